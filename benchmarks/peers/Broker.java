// ActiveMQ, and clients that send and receive one persistent message a transaction: of ActiveMQ by JMS, of a database by JDBC.
//
//   broker jdbc|kahadb FOLDER    run a broker until standard input ends; prints its URL
//   jms|jdbc URL send|receive CLIENTS MESSAGES    prints {"seconds": …}, after a tenth of the messages as a warm-up
//
// The broker's JDBC store is in the database of the JDBC URL in STORE. Clients of a database are given their statements in SEND and RECEIVE.

import java.io.File;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.jms.DeliveryMode;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Session;
import org.apache.activemq.ActiveMQConnectionFactory;
import org.apache.activemq.broker.BrokerService;
import org.apache.activemq.store.jdbc.JDBCPersistenceAdapter;
import org.apache.activemq.store.kahadb.KahaDBPersistenceAdapter;
import org.postgresql.ds.PGPoolingDataSource;

public class Broker {
    static final String BODY = "x".repeat(64);

    /** One client: every call is one message and one commit; false where there was none. */
    interface Client extends AutoCloseable {
        boolean one() throws Exception;
    }

    public static void main(String[] words) throws Exception {
        if (words[0].equals("broker")) {
            broker(words[1], new File(words[2]));
        } else {
            int clients = Integer.parseInt(words[3]), messages = Integer.parseInt(words[4]);
            // Receivers at their end may take one each too many: a few are sent for that.
            int more = words[2].equals("send") ? 100 : 0;
            timed(words[0], words[1], words[2], clients, messages / 10 + more);
            System.out.printf("{\"seconds\": %.6f}%n", timed(words[0], words[1], words[2], clients, messages));
        }
        System.exit(0);
    }

    static void broker(String store, File folder) throws Exception {
        BrokerService broker = new BrokerService();
        broker.setBrokerName("bench");
        broker.setUseJmx(false);
        broker.setDataDirectoryFile(folder);
        if (store.equals("jdbc")) {
            PGPoolingDataSource source = new PGPoolingDataSource();
            source.setUrl(System.getenv("STORE"));
            source.setMaxConnections(20);
            JDBCPersistenceAdapter adapter = new JDBCPersistenceAdapter();
            adapter.setDataSource(source);
            broker.setPersistenceAdapter(adapter);
        } else {
            KahaDBPersistenceAdapter adapter = new KahaDBPersistenceAdapter();
            adapter.setDirectory(new File(folder, "kahadb"));
            broker.setPersistenceAdapter(adapter);
        }
        String url = broker.addConnector("tcp://127.0.0.1:0").getPublishableConnectString();
        broker.start();
        broker.waitUntilStarted();
        System.out.println(url);
        System.out.flush();
        while (System.in.read() >= 0) { }
        broker.stop();
    }

    /** Seconds from the word go until the last of them has sent its share, or all have been received. */
    static double timed(String kind, String url, String verb, int clients, int messages) throws Exception {
        boolean sends = verb.equals("send");
        AtomicInteger left = new AtomicInteger(messages);
        CyclicBarrier ready = new CyclicBarrier(clients + 1);
        ExecutorService pool = Executors.newFixedThreadPool(clients);
        List<Future<Long>> ends = new ArrayList<>();
        for (int number = 0; number < clients; number++) {
            Callable<Long> work = () -> {
                try (Client client = kind.equals("jms") ? jms(url, sends) : jdbc(url, sends)) {
                    ready.await();
                    long end = System.nanoTime();
                    // A sender claims its message beforehand, a receiver counts what it has got.
                    while (sends ? left.getAndDecrement() > 0 : left.get() > 0) {
                        if (client.one()) {
                            end = System.nanoTime();
                            if (!sends) {
                                left.decrementAndGet();
                            }
                        }
                    }
                    return end;
                }
            };
            ends.add(pool.submit(work));
        }
        ready.await();
        long started = System.nanoTime(), last = started;
        for (Future<Long> end : ends) {
            last = Math.max(last, end.get());
        }
        return (last - started) / 1e9;
    }

    static Client jms(String url, boolean sends) throws Exception {
        javax.jms.Connection connection = new ActiveMQConnectionFactory(url).createConnection();
        connection.start();
        Session session = connection.createSession(!sends, Session.AUTO_ACKNOWLEDGE);
        MessageProducer producer = sends ? session.createProducer(session.createQueue("bench")) : null;
        MessageConsumer consumer = sends ? null : session.createConsumer(session.createQueue("bench"));
        if (sends) {
            producer.setDeliveryMode(DeliveryMode.PERSISTENT);
        }
        return new Client() {
            public boolean one() throws Exception {
                if (sends) {
                    // Returns when the broker has stored it.
                    producer.send(session.createTextMessage(BODY));
                    return true;
                }
                if (consumer.receive(20) == null) {
                    return false;
                }
                session.commit();
                return true;
            }

            public void close() throws Exception {
                connection.close();
            }
        };
    }

    static Client jdbc(String url, boolean sends) throws Exception {
        Connection connection = DriverManager.getConnection(url);
        PreparedStatement statement = connection.prepareStatement(System.getenv(sends ? "SEND" : "RECEIVE"));
        if (sends) {
            statement.setString(1, BODY);
        }
        return new Client() {
            public boolean one() throws Exception {
                try (ResultSet rows = statement.executeQuery()) {
                    return rows.next();
                }
            }

            public void close() throws Exception {
                connection.close();
            }
        };
    }
}
