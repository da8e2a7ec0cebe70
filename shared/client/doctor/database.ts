import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fail, ok, warn, type Finding, type Patient } from "#shared/client/doctor/finding.ts";
import { locateBinaries } from "#shared/client/up/postgres/binaries.ts";
import { isRunningHere } from "#shared/client/doctor/network.ts";
import { runningUrl } from "#shared/client/up/postgres/cluster.ts";
import { DATABASE_NAME } from "#shared/client/up/database.ts";
import { openSession, type Session } from "#shared/client/up/postgres/store.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import { base64Key } from "#shared/settings/kinds.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { checkValueOf } from "#shared/settings/master-key.ts";
import type { Settings } from "#shared/settings/settings.ts";

const OLDEST = 150_000;
/** The largest clock difference without a warning, milliseconds. */
const CLOCK_TOLERANCE_MS = 2_000;

/** Checks the database of the control plane: reachable, recent enough, clocks equal, replicas advertised. */
export async function checkDatabase(patient: Patient): Promise<Finding[]> {
  const { settings, now } = patient;
  if (settings.databaseUrl === null) return checkEmbedded(patient);
  const session = openSession(settings.databaseUrl);
  try {
    const version = await session.version();
    if (version < OLDEST) {
      return [fail("database", `PostgreSQL ${Math.floor(version / 10_000)} is too old`, "use PostgreSQL 15 or later")];
    }
    const before = now().getTime();
    const theirs = (await session.now()).getTime();
    const apart = Math.max(0, before - theirs, theirs - now().getTime());
    const reached = [
      ok("database", `PostgreSQL ${Math.floor(version / 10_000)} answers`),
      ...(await checkText(session)),
      ...(await checkKey(session, patient)),
      ...(await checkReplicas(session, settings)),
      ...(await checkAddresses(session)),
      ...(await checkBackups(session, settings)),
    ];
    if (apart <= CLOCK_TOLERANCE_MS) return reached;
    const seconds = Math.round(apart / 1_000);
    return [
      ...reached,
      warn(
        "clock",
        `the clocks of this host and of the database differ by ${seconds} s`,
        "synchronize both with NTP; Vantage uses the database's clock",
      ),
    ];
  } catch (error) {
    const said = error instanceof Error && error.name === "PostgresError" ? error.message : describeError(error);
    return [
      fail("database", `DATABASE_URL cannot be used (${said})`, "check the address, the user and that PostgreSQL runs"),
    ];
  } finally {
    await session.close().catch(() => {});
  }
}

/** Checks that agents can find every replica: if there are several, each must advertise the address that agents dial. */
async function checkReplicas(session: Session, settings: Settings): Promise<Finding[]> {
  const others = await session.replicas();
  // If the replica with these settings runs, it is among them; else it would be one more.
  const isHere = await isRunningHere(settings);
  const all = others.live + (isHere ? 0 : 1);
  const without = others.unadvertised + (isHere || settings.grpcAdvertise !== null ? 0 : 1);
  if (all < 2) return [];
  if (without === 0) return [ok("replicas", `${all} on this database, each advertises an address to agents`)];
  return [
    warn(
      "replicas",
      `${without} of ${all} on this database advertise no address: agents may be unable to find every replica`,
      "set VANTAGE_GRPC_ADVERTISE on each replica to the address that agents dial for it",
    ),
  ];
}

/** Checks that the master key is the one with which the database's secrets are encrypted. */
async function checkKey(session: Session, { settings, dataDirectory }: Patient): Promise<Finding[]> {
  const expected = await session.masterKeyCheck();
  if (expected === null) return [];
  const file = join(dataDirectory, "master-key");
  const text = settings.masterKey === null ? readText(file) : null;
  // One that this user cannot read is the finding of another check.
  if (settings.masterKey === null && text === null && existsSync(file)) return [];
  const key = settings.masterKey ?? base64Key.parse(text ?? "");
  if (key !== undefined && Buffer.compare(expected, checkValueOf(key)) === 0) return [];
  const todo = existsSync(`${file}.next`)
    ? `end the rotation: ${LAUNCHER} rotate master-key`
    : "set VANTAGE_MASTER_KEY to that key, or restore the file master-key of the first data directory";
  const place = settings.masterKey === null ? file : "VANTAGE_MASTER_KEY";
  return [fail("master key", `${place} is not the key of the secrets in the database: the service cannot start`, todo)];
}

/** Reads a file; null if it is missing or cannot be read, which another check reports. */
function readText(file: string): string | null {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return null;
  }
}

/** Checks how the database stores and sorts text. */
async function checkText(session: Session): Promise<Finding[]> {
  const { name, encoding, madeWith, sortsWith } = await session.text();
  if (encoding !== "UTF8") {
    return [
      fail(
        "database encoding",
        `the encoding of the database is ${encoding}: most text cannot be stored`,
        `make another one (createdb --encoding=UTF8 --template=template0), and restore a backup into it`,
      ),
    ];
  }
  if (madeWith === null || madeWith === sortsWith) return [ok("database encoding", "UTF8")];
  return [
    warn(
      "database encoding",
      `the operating system sorts text in another way than when the database was made (${madeWith} then, ${sortsWith ?? "none"} now): indexes can miss rows`,
      `in psql: REINDEX DATABASE "${name}"; ALTER DATABASE "${name}" REFRESH COLLATION VERSION`,
    ),
  ];
}

/** Checks the addresses of accounts: one that has no normal form is compared by its text alone, and not mailed. */
async function checkAddresses(session: Session): Promise<Finding[]> {
  const odd = await session.oddAddresses();
  if (odd.length === 0) return [];
  const message = `the email addresses of these accounts are in no form that mail can be sent to: ${odd.join(", ")}`;
  return [warn("addresses", message, "set others: PUT /api/admin/accounts?id= with the operator's token")];
}

/** Checks the newest backup by schedule. The service itself warns when it gets old. */
async function checkBackups(session: Session, { backupSchedule }: Settings): Promise<Finding[]> {
  if (backupSchedule === null) return [];
  const newest = await session.newestBackup();
  if (newest === null)
    return [warn("backup", "none was made by schedule", "start the control plane: the first is made at once")];
  const { endedAt, error } = newest;
  if (error === null) return [ok("backup", `the newest is of ${endedAt.toISOString()}`)];
  return [
    warn("backup", `the newest failed at ${endedAt.toISOString()}: ${error}`, "check VANTAGE_BACKUP_DIR and its disk"),
  ];
}

async function checkEmbedded(patient: Patient): Promise<Finding[]> {
  const { dataDirectory, settings } = patient;
  const located = locateBinaries();
  if (!located.ok) return [fail("database", located.line, "set DATABASE_URL")];
  const note = join(dataDirectory, "postgres-is-elsewhere");
  const usual = join(dataDirectory, "postgres");
  const there = existsSync(join(usual, "data")) || existsSync(note);
  const { version } = located.binaries;
  const found = ok(
    "database",
    `embedded PostgreSQL ${version} ${there ? "with existing data" : "will be set up by npm start"}`,
  );
  const url = runningUrl(existsSync(note) ? readFileSync(note, "utf8").trim() : usual, DATABASE_NAME);
  if (url === null) return [found];
  const session = openSession(url);
  try {
    return [
      found,
      ...(await checkText(session)),
      ...(await checkKey(session, patient)),
      ...(await checkAddresses(session)),
      ...(await checkBackups(session, settings)),
    ];
  } catch {
    // It is starting or stopping at this moment.
    return [found];
  } finally {
    await session.close().catch(() => {});
  }
}
