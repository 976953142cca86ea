import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * A complete consumer in plain JDBC: it receives in a transaction, records failures outside it, sleeps until a message
 * comes, and ends after the message in hand when it gets SIGTERM or Ctrl-C.
 *
 * <p>java -cp postgresql.jar Consumer.java QUEUE JDBC-URL [LISTEN-URL]
 *
 * <p>JDBC-URL may lead through PgBouncer in transaction mode (add prepareThreshold=0 unless it tracks prepared
 * statements). LISTEN-URL leads to the server itself, for a pooler cannot pass notifications on. Without it the
 * consumer looks at its queue every 250 ms.
 */
public final class Consumer {
    private static final long LONGEST_SLEEP = 250; // ms; what was delayed or came back sends no notification
    private static final long ASK_AFTER = 16; // ms without a message, before the consumer asks to be woken
    private static final long ASK_EVERY = 500; // ms; a request holds for two seconds
    private static final long TRY_AGAIN = 1000; // ms, after a connection was lost

    private final String queue;
    private final String url;
    private final String listenUrl;
    private Connection listener;
    private long listenAgain;
    private Asked asked;
    private volatile boolean stopping;

    /** body has a text or JSON; of a message in bytes it is null, and bytes has them. */
    private record Message(long id, int priority, long position, String body, byte[] bytes) {}

    private record Asked(long since, String payloads, boolean unsettled, long at) {}

    private Consumer(String queue, String url, String listenUrl) {
        this.queue = queue;
        this.url = url;
        this.listenUrl = listenUrl;
    }

    public static void main(String[] arguments) throws InterruptedException {
        if (arguments.length < 2) {
            System.err.println("usage: Consumer QUEUE JDBC-URL [LISTEN-URL]");
            System.exit(2);
        }
        var listenUrl = arguments.length > 2 ? arguments[2] : null;
        var consumer = new Consumer(arguments[0], arguments[1], listenUrl);
        var running = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.stopping = true;
            System.out.println("stopping");
            try {
                running.join(); // until the message in hand is committed; a supervisor kills us if that takes too long
            } catch (InterruptedException ignored) {
                // The virtual machine ends all the same.
            }
        }));
        consumer.run();
        System.out.println("stopped");
    }

    /** Your own work. What it writes on this connection is committed or rolled back together with the message. */
    private static void handle(Connection connection, Message message) throws Exception {
        try (PreparedStatement write = connection.prepareStatement("insert into brewed (item) values (?)")) {
            write.setString(1, message.body());
            write.executeUpdate();
        }
        if ("fail".equals(message.body())) {
            throw new IllegalStateException("this message cannot be handled");
        }
        System.out.println("handled " + message.body());
    }

    private void run() throws InterruptedException {
        while (!stopping) {
            try (Connection connection = DriverManager.getConnection(url)) {
                connection.setAutoCommit(false);
                long sleep = 1;
                while (!stopping) {
                    if (consumed(connection)) {
                        sleep = 1;
                        continue;
                    }
                    if (sleep >= ASK_AFTER && listening() && ask(connection)) {
                        continue; // one more look: a message may have come before the request
                    }
                    sleep(asked != null && asked.unsettled() ? Math.min(sleep, 10) : sleep);
                    sleep = Math.min(sleep * 2, LONGEST_SLEEP);
                }
            } catch (SQLException error) {
                System.err.println("trying again: " + error.getMessage());
                Thread.sleep(TRY_AGAIN);
            }
        }
    }

    /** Receive one message and handle it. Returns false if there is none. */
    private boolean consumed(Connection connection) throws SQLException {
        Message message = receive(connection);
        if (message == null) {
            connection.commit();
            return false;
        }
        try {
            handle(connection, message);
            connection.commit();
        } catch (Throwable error) {
            connection.rollback();
            if (error instanceof SQLException sql && blameless(sql)) {
                throw sql;
            }
            recordFailure(connection, message, error);
            if (error instanceof Error fatal) {
                throw fatal; // no memory or no stack left: the program ends, and the message is to blame all the same
            }
        }
        return true;
    }

    private Message receive(Connection connection) throws SQLException {
        try (PreparedStatement receive = connection.prepareStatement(
                "select message_id, priority, position, body, bytes from howdah.receive(?, 1)")) {
            receive.setString(1, queue);
            try (ResultSet row = receive.executeQuery()) {
                return !row.next() ? null
                    : new Message(row.getLong(1), row.getInt(2), row.getLong(3), row.getString(4), row.getBytes(5));
            }
        }
    }

    /** A lost connection, a deadlock, a lock in use, a full disk, a server that stops: no message caused these. */
    private static boolean blameless(SQLException error) {
        var state = error.getSQLState();
        return state != null && state.matches("(08|40|53|55P03|57P0|58|HD040|XX00[12]).*");
    }

    /** In a transaction of its own, after the rollback, which would take the record back. */
    private void recordFailure(Connection connection, Message message, Throwable error) throws SQLException {
        try (PreparedStatement record = connection.prepareStatement(
                "select outcome from howdah.record_failure(?, ?, error_text => ?, error_class => ?, priority => ?,"
                    + " \"position\" => ?)")) {
            record.setString(1, queue);
            record.setLong(2, message.id());
            record.setString(3, error.getMessage());
            record.setString(4, error.getClass().getName());
            record.setInt(5, message.priority());
            record.setLong(6, message.position());
            try (ResultSet row = record.executeQuery()) {
                row.next();
                System.out.println("failed " + message.body() + ": " + row.getString(1));
            }
        }
        connection.commit();
    }

    /** Whether notifications arrive. After a lost connection it tries again every second. */
    private boolean listening() {
        if (listenUrl == null || listener != null || System.currentTimeMillis() < listenAgain) {
            return listener != null;
        }
        try {
            listener = DriverManager.getConnection(listenUrl);
            try (Statement listen = listener.createStatement()) {
                listen.execute("listen howdah");
            }
        } catch (SQLException error) {
            notListening();
        }
        return listener != null;
    }

    private void notListening() {
        try {
            if (listener != null) {
                listener.close();
            }
        } catch (SQLException ignored) {
            // It is lost already.
        }
        listener = null;
        asked = null;
        listenAgain = System.currentTimeMillis() + TRY_AGAIN;
    }

    /** Ask senders for notifications. Returns false if the last request still holds. */
    private boolean ask(Connection connection) throws SQLException {
        long now = System.currentTimeMillis();
        if (asked != null && now - asked.at() < (asked.unsettled() ? 100 : ASK_EVERY)) {
            return false;
        }
        try (PreparedStatement wait = connection.prepareStatement(
                "select since, payload, unsettled from howdah.wait(?, ?)")) {
            wait.setString(1, queue);
            wait.setObject(2, asked == null ? null : asked.since(), java.sql.Types.BIGINT);
            try (ResultSet row = wait.executeQuery()) {
                row.next();
                asked = new Asked(row.getLong(1), row.getString(2), row.getBoolean(3), now);
            }
        }
        connection.commit();
        return true;
    }

    /** Sleep for so many milliseconds, or until a notification of this queue comes. */
    private void sleep(long longest) throws InterruptedException {
        if (asked == null || listener == null) {
            Thread.sleep(longest);
            return;
        }
        long end = System.currentTimeMillis() + longest;
        try {
            for (long left = longest; left > 0; left = end - System.currentTimeMillis()) {
                PGNotification[] came = listener.unwrap(PGConnection.class).getNotifications((int) left);
                for (PGNotification one : came == null ? new PGNotification[0] : came) {
                    if (("," + asked.payloads() + ",").contains("," + one.getParameter() + ",")) {
                        System.out.println("woken");
                        return;
                    }
                }
            }
        } catch (SQLException error) {
            notListening();
        }
    }
}
