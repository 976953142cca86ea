import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Objects;

/**
 * A message's life as a Java application sees it, through plain JDBC and the SQL API alone.
 *
 * <p>java -cp postgresql.jar Scenario.java JDBC-URL
 */
public final class Scenario {
    private Scenario() {}

    public static void main(String[] arguments) throws SQLException {
        try (Connection own = DriverManager.getConnection(arguments[0]);
                Connection other = DriverManager.getConnection(arguments[0])) {
            own.setAutoCommit(false);
            run(own, other);
        }
        System.out.println("the scenario went well");
    }

    private static void run(Connection own, Connection other) throws SQLException {
        execute(other, "select howdah.create_queue('java.orders', '{\"max_failed_deliveries\": 3}')");
        execute(other, "create table account (message_id bigint, note text)");

        // Sent, but not committed: nobody sees it. Then for good.
        send(own, "undone", 4);
        own.rollback();
        expect("nothing was sent", null, receive(own));
        own.rollback();
        long low = send(own, "low 🐘", 1);
        long high = send(own, "high", 8);
        own.commit();

        // Received in a transaction with a business row; both roll back.
        Received first = receive(own);
        expect("the higher priority first", new Received(high, "high", 1, false), first);
        note(own, first);
        own.rollback();
        expect("no business row", 0L, number(other, "select count(*) from account"));

        // The failure is recorded on another connection, outside that transaction.
        try (PreparedStatement failure = other.prepareStatement(
                "select attempt, outcome from howdah.record_failure('java.orders', ?, error_text => ?, error_class => ?)")) {
            failure.setLong(1, high);
            failure.setString(2, "it did not work");
            failure.setString(3, "java.lang.IllegalStateException");
            try (ResultSet row = failure.executeQuery()) {
                row.next();
                expect("the first failure", "1 returned", row.getInt(1) + " " + row.getString(2));
            }
        }
        Received second = receive(own);
        expect("redelivered", new Received(high, "high", 2, true), second);
        note(own, second);
        expect("then the other", new Received(low, "low 🐘", 1, false), receive(own));
        own.commit();
        expect("nothing is left", null, receive(own));
        own.rollback();
        expect("one business row", 1L, number(other, "select count(*) from account where message_id = " + high));

        // Bytes, many at once.
        byte[] raw = {0, 1, (byte) 0xff};
        try (PreparedStatement batch = own.prepareStatement("select howdah.send_batch('java.orders', ?::bytea[])")) {
            batch.setArray(1, own.createArrayOf("bytea", new byte[][] {raw, raw, raw}));
            try (ResultSet row = batch.executeQuery()) {
                row.next();
                expect("three numbers", 3, ((Object[]) row.getArray(1).getArray()).length);
            }
        }
        try (Statement statement = own.createStatement();
                ResultSet rows = statement.executeQuery("select bytes from howdah.receive('java.orders', 10)")) {
            int count = 0;
            while (rows.next()) {
                expect("the bytes", true, Arrays.equals(raw, rows.getBytes(1)));
                count++;
            }
            expect("three messages", 3, count);
        }
        own.commit();

        // Errors are told apart by SQLSTATE.
        refused(other, "HD001", "select howdah.send('nowhere', 'x'::text)");
        refused(other, "HD002", "select howdah.create_queue('java.orders')");
        refused(other, "HD006", "select howdah.send('java.orders', 'x'::text, priority => 10)");
        refused(other, "HD005", "select howdah.send('java.orders', null::text)");
    }

    private record Received(long id, String body, int deliveryCount, boolean redelivered) {}

    private static long send(Connection connection, String body, int priority) throws SQLException {
        try (PreparedStatement send = connection.prepareStatement(
                "select howdah.send('java.orders', ?::text, priority => ?, headers => ?::jsonb)")) {
            send.setString(1, body);
            send.setInt(2, priority);
            send.setString(3, "{\"from\": \"java\"}");
            try (ResultSet row = send.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    private static Received receive(Connection connection) throws SQLException {
        try (PreparedStatement receive = connection.prepareStatement(
                "select message_id, body, delivery_count, redelivered, headers ->> 'from' from howdah.receive(?, 1)")) {
            receive.setString(1, "java.orders");
            try (ResultSet row = receive.executeQuery()) {
                if (!row.next()) {
                    return null;
                }
                expect("the header", "java", row.getString(5));
                return new Received(row.getLong(1), row.getString(2), row.getInt(3), row.getBoolean(4));
            }
        }
    }

    private static void note(Connection connection, Received message) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into account values (?, ?)")) {
            insert.setLong(1, message.id());
            insert.setString(2, message.body());
            insert.executeUpdate();
        }
    }

    private static void refused(Connection connection, String sqlState, String sql) {
        try {
            execute(connection, sql);
        } catch (SQLException error) {
            expect(sql, sqlState, error.getSQLState());
            return;
        }
        throw new AssertionError(sql + " was not refused");
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static long number(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void expect(String what, Object expected, Object found) {
        if (!Objects.equals(expected, found)) {
            throw new AssertionError(what + ": expected " + expected + ", found " + found);
        }
    }
}
