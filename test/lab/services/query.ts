// Program that runs one statement on the lab's database from inside of the lab and prints its rows as JSON. Its
// arguments are the URL of the database and the statement.
import postgres from "postgres";

const [url = "", statement = ""] = process.argv.slice(2);
const sql = postgres(url, { max: 1 });
const rows = await sql.unsafe(statement);
process.stdout.write(JSON.stringify(rows));
await sql.end();
