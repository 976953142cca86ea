// A real ActiveMQ broker with its JDBC store, and clients that fill it, read from it and go.
//
//   java Store.java FOLDER [PREFIX]    the store is in the database of the JDBC URL in STORE
//
// It reads orders, a line each, from standard input, and answers each with "done". The end of the input stops the broker.

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.List;
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.MapMessage;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Session;
import javax.jms.StreamMessage;
import javax.jms.TextMessage;
import org.apache.activemq.ActiveMQConnection;
import org.apache.activemq.ActiveMQConnectionFactory;
import org.apache.activemq.broker.BrokerService;
import org.apache.activemq.command.ActiveMQDestination;
import org.apache.activemq.store.jdbc.JDBCPersistenceAdapter;
import org.postgresql.ds.PGPoolingDataSource;

public class Store {
    static BrokerService broker;
    static Session session;

    public static void main(String[] words) throws Exception {
        PGPoolingDataSource source = new PGPoolingDataSource();
        source.setUrl(System.getenv("STORE"));
        source.setMaxConnections(10);
        JDBCPersistenceAdapter adapter = new JDBCPersistenceAdapter();
        adapter.setDataSource(source);
        broker = new BrokerService();
        broker.setBrokerName("store");
        broker.setUseJmx(false);
        broker.setDataDirectoryFile(new File(words[0]));
        adapter.getStatements().setTablePrefix(words.length > 1 ? words[1] : "");
        broker.setPersistenceAdapter(adapter);
        broker.start();
        broker.waitUntilStarted();
        System.out.println("done");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        for (String order; (order = orders.readLine()) != null; ) {
            String[] said = order.split(" ");
            Connection connection = new ActiveMQConnectionFactory("vm://store?create=false").createConnection();
            try {
                if (said[0].equals("subscribe") || said[0].equals("read") || said[0].equals("unsubscribe")) {
                    connection.setClientID(said[2]);
                }
                ((ActiveMQConnection) connection).setUseCompression(said[0].equals("compressed"));
                connection.start();
                session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
                switch (said[0]) {
                    case "kinds" -> kinds(said[1]);
                    case "compressed" -> kinds(said[1]);
                    case "texts" -> texts(ActiveMQDestination.createDestination(said[1], (byte) 1), said);
                    case "take" -> take(session.createConsumer(session.createQueue(said[1])), Integer.parseInt(said[2]));
                    case "subscribe" -> session.createDurableSubscriber(
                        session.createTopic(said[1]), said[3], said.length > 4 ? said[4].replace('_', ' ') : null, false);
                    case "read" -> take(session.createDurableSubscriber(session.createTopic(said[1]), said[3],
                        said.length > 5 ? said[5].replace('_', ' ') : null, false), Integer.parseInt(said[4]));
                    case "poison" -> poison(session.createQueue(said[1]));
                    case "unsubscribe" -> session.unsubscribe(said[3]);
                    default -> throw new IllegalArgumentException(order);
                }
            } finally {
                connection.close();
            }
            System.out.println("done");
        }
        broker.stop();
        System.exit(0);
    }

    static void take(MessageConsumer consumer, int number) throws Exception {
        for (int n = 0; n < number; n++) {
            if (consumer.receive(5000) == null) {
                throw new IllegalStateException("nothing came");
            }
        }
    }

    /** A message that is given back until the broker takes it for dead. */
    static void poison(javax.jms.Queue queue) throws Exception {
        Connection connection = new ActiveMQConnectionFactory("vm://store?create=false"
            + "&jms.redeliveryPolicy.maximumRedeliveries=1&jms.redeliveryPolicy.initialRedeliveryDelay=0").createConnection();
        connection.start();
        Session transacted = connection.createSession(true, Session.SESSION_TRANSACTED);
        transacted.createProducer(queue).send(transacted.createTextMessage("poison"));
        transacted.commit();
        MessageConsumer consumer = transacted.createConsumer(queue);
        for (int n = 0; n < 2; n++) {
            take(consumer, 1);
            transacted.rollback();
        }
        connection.close();
    }

    /** texts DESTINATION FIRST NUMBER [PRIORITY]. */
    static void texts(ActiveMQDestination destination, String[] said) throws Exception {
        MessageProducer producer = session.createProducer(destination);
        int first = Integer.parseInt(said[2]);
        for (int n = first; n < first + Integer.parseInt(said[3]); n++) {
            TextMessage message = session.createTextMessage("text " + n);
            message.setIntProperty("number", n);
            producer.send(message, DeliveryMode.PERSISTENT, said.length > 4 ? Integer.parseInt(said[4]) : 4, 0);
        }
    }

    /** Every kind of message, and everything that a message can carry. */
    static void kinds(String queue) throws Exception {
        MessageProducer producer = session.createProducer(session.createQueue(queue));
        TextMessage text = session.createTextMessage("Grüße 🐘 " + "x".repeat(200));
        text.setJMSCorrelationID("corr-1");
        text.setJMSReplyTo(session.createQueue("answers"));
        text.setJMSType("order");
        text.setStringProperty("region", "EU");
        text.setBooleanProperty("urgent", true);
        text.setByteProperty("aByte", (byte) -3);
        text.setShortProperty("aShort", (short) 300);
        text.setIntProperty("anInt", 70000);
        text.setLongProperty("aLong", 1L << 60);
        text.setFloatProperty("aFloat", 0.5f);
        text.setDoubleProperty("aDouble", 2.25);
        text.setStringProperty("JMSXGroupID", "group 1");
        text.setIntProperty("JMSXGroupSeq", 7);
        producer.send(text, DeliveryMode.PERSISTENT, 9, 86_400_000);
        BytesMessage bytes = session.createBytesMessage();
        bytes.writeBytes(new byte[] {0, 1, 2, (byte) 0xff});
        producer.send(bytes);
        MapMessage map = session.createMapMessage();
        map.setString("item", "mocha");
        map.setInt("number", 3);
        map.setDouble("price", 65.25);
        map.setBoolean("hot", true);
        map.setBytes("photo", new byte[] {1, 2});
        map.setChar("size", 'L');
        map.setLong("long", -1L);
        map.setFloat("float", 1.5f);
        map.setObject("nothing", null);
        producer.send(map);
        MapMessage nested = session.createMapMessage();
        nested.setObject("list", List.of("a", 1));
        nested.setObject("map", new HashMap<>(java.util.Map.of("b", 2.5)));
        producer.send(nested);
        StreamMessage stream = session.createStreamMessage();
        stream.writeString("first");
        stream.writeLong(2);
        stream.writeBytes(new byte[] {3});
        stream.writeObject(null);
        producer.send(stream);
        producer.send(session.createObjectMessage(new java.util.ArrayList<>(List.of("one"))));
        Message bare = session.createMessage();
        bare.setStringProperty("only", "properties");
        producer.send(bare);
        producer.send(session.createTextMessage(""));
        producer.send(session.createTextMessage());
        producer.send(session.createTextMessage("a\0b"));
        TextMessage delayed = session.createTextMessage("no scheduler here");
        delayed.setLongProperty("AMQ_SCHEDULED_DELAY", 3_600_000);
        producer.send(delayed);
        producer.send(session.createTextMessage("low"), DeliveryMode.PERSISTENT, 0, 0);
        producer.send(session.createTextMessage("not stored"), DeliveryMode.NON_PERSISTENT, 4, 0);
        producer.send(session.createTextMessage("soon over"), DeliveryMode.PERSISTENT, 4, 1);
    }
}
