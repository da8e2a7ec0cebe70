import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { runVantage, type Ran } from "#test/shared/client/command-line.ts";
import { BACKUP, kumaMonitor, MONITORS, SECRETS } from "#test/shared/client/uptime-kuma/backup.ts";
import { hostileBackup } from "#test/shared/client/uptime-kuma/hostile.ts";
import { openAccountDocuments, type AccountDocuments } from "#test/support/account-documents.ts";
import { startMonitorService, type MonitorService } from "#test/support/monitor-service.ts";

let service: MonitorService;
let documents: AccountDocuments;
let folder: string;
let key: string;

beforeAll(async () => {
  service = await startMonitorService();
  for (const region of ["eu-west", "us-east"]) service.attach(region);
  documents = openAccountDocuments(service);
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "vantage-import-"));
  ({ key } = await documents.createOwner());
  return () => rmSync(folder, { recursive: true, force: true });
});
afterAll(() => service?.stop());

const document = () => join(folder, "vantage.yaml");
const backup = () => join(folder, "backup.json");
const importKuma = (words: readonly string[] = ["-o", document()]): Promise<Ran> =>
  runVantage(["import", "uptime-kuma", backup(), ...words], {});
const apply = (words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  runVantage(["apply", "-f", document(), ...words], { VTG_API_KEY: key, VANTAGE_BASE_URL: service.url, ...more });
const writeBackup = (value: unknown) => writeFileSync(backup(), JSON.stringify(value, null, 4));

const VARIABLES = {
  KUMA_ORDERS_API_BODY: '{"password": "body-secret"}',
  KUMA_ORDERS_API_X_API_KEY: "key-of-the-api",
  KUMA_ORDERS_API_AUTHORIZATION: "Basic a3VtYTpiYXNpYy1zZWNyZXQ=",
  KUMA_NO_ERRORS_AUTHORIZATION: "Basic dXNlcjp1cmwtc2VjcmV0",
};

describe("a backup of Uptime Kuma", () => {
  it("is a document that the service takes as it is, and a second apply finds nothing to change", async () => {
    writeBackup(BACKUP);
    expect(await importKuma()).toMatchObject({ status: 0, said: "" });
    const dry = await apply(["--dry-run"], VARIABLES);
    expect(dry).toMatchObject({ status: 0, complained: "" });
    expect(dry.said).toContain("Plan: 12 to create, 0 to change, 0 to delete, 0 unchanged.");
    expect(await documents.listOf(key)).toEqual([]);

    expect(await apply(["--yes"], VARIABLES)).toMatchObject({ status: 0, complained: "" });
    const { monitors } = parse(readFileSync(document(), "utf8")) as { readonly monitors: readonly object[] };
    const made = (await documents.exportOf(key)).monitors;
    // Secrets are no part of an export.
    const written = monitors.map((row) => {
      const { request_headers: _headers, body: _body, ...open } = row as Readonly<Record<string, unknown>>;
      return open;
    });
    expect(made).toMatchObject(written);
    expect(made).toHaveLength(12);
    expect((await apply(["--yes"], VARIABLES)).said).toBe("No change.");
    const whole = await documents.read(key, "&secrets=include");
    for (const secret of ["key-of-the-api", VARIABLES.KUMA_ORDERS_API_AUTHORIZATION, "body-secret"]) {
      expect(whole.text).toContain(secret);
    }
  });

  it("gives no secret away, unless its user says so", async () => {
    writeBackup(BACKUP);
    const { complained } = await importKuma();
    const text = readFileSync(document(), "utf8");
    expect(`${text}${complained}`).not.toMatch(SECRETS);
    for (const name of Object.keys(VARIABLES)) expect(text).toContain(`#   ${name}: `);
    expect(await apply(["--dry-run"])).toMatchObject({ status: 2, said: "" });

    const whole = await importKuma(["--include-secrets", "--out", `${document()}.whole`]);
    expect(whole.complained).not.toMatch(SECRETS);
    const { monitors } = parse(readFileSync(`${document()}.whole`, "utf8")) as { monitors: Record<string, unknown>[] };
    expect(monitors[1]).toMatchObject({
      body: VARIABLES.KUMA_ORDERS_API_BODY,
      request_headers: { "X-Api-Key": "key-of-the-api", Authorization: VARIABLES.KUMA_ORDERS_API_AUTHORIZATION },
    });
    expect(statSync(`${document()}.whole`).mode & 0o077).toBe(0);
  });

  it("says what is not as it was, a line each, and counts it", async () => {
    writeBackup(BACKUP);
    const { complained } = await importKuma();
    expect(complained.split("\n")).toEqual([
      'Shop: tags changed: "Öffentlich" is offentlich',
      "Orders API: request_headers.Host left out: the probe writes this field itself",
      "Orders API: ignoreTls left out: a certificate that is not trusted is down",
      "Orders API: interval changed: 90 s is 2 min",
      "Orders API: retryInterval left out: the service decides when a failed check is repeated",
      "Landing page: timeout changed: 48 s is 30 s, the longest",
      'Queue: expectedValue changed: 0 is the number 0, not the text "0"',
      "Queue: interval changed: 20 s is 1 min",
      "Router: packetSize left out: packets have one size",
      'NAS: not taken over: "192.168.1.10" is not on the public internet; --private takes it over, for a service whose ' +
        "operator allows it",
      "Backup: its job has to ping the new address, heartbeat_url of the new monitor",
      "Prices: keyword left out: Vantage asks the health service grpc.health.v1",
      'Prices: it is paused: it called "Prices/list"; resume it if the server has grpc.health.v1',
      'Container: not taken over: there is no check of the type "docker"; a heartbeat can wait for pings of a job beside it',
      'Broker: not taken over: there is no check of the type "mqtt"; a monitor with check_type port can watch whether its ' +
        "port is open",
      'Game: not taken over: there is no check of the type "steam"; a heartbeat can wait for pings of a job beside it',
      'Database: not taken over: there is no check of the type "postgres"; a monitor with check_type port can watch ' +
        "whether its port is open",
      'Shop (2): name changed: it is "Shop (2)"',
      "Must be away: not taken over: there is no upside down mode",
      "2 notifications not taken over: add webhooks, or notify_email to the monitors",
      "1 proxy not taken over",
      "2 groups taken over as tags of their monitors, such as group:name",
      "12 of 18 monitors taken over; 6 not; 5 settings left out, 6 changed",
      `Read ${document()}, then run deploy/vantage apply -f ${document()} --dry-run`,
    ]);
  });

  it("is also the list of release 2, by ids or not, and standard input", async () => {
    const monitors = MONITORS.slice(2, 4);
    const found: unknown[] = [];
    for (const whole of [monitors, { monitorList: byId(monitors) }, byId(monitors)]) {
      writeBackup(whole);
      const { said, status } = await importKuma([]);
      expect(status).toBe(0);
      found.push(parse(said));
    }
    const piped = await runVantage(["import", "uptime-kuma", "-"], {}, () => {}, { stdin: JSON.stringify(monitors) });
    found.push(parse(piped.said));
    expect(found[0]).toMatchObject({ version: 2, monitors: [{ name: "Shop" }, { name: "Orders API" }] });
    expect(found).toEqual([found[0], found[0], found[0], found[0]]);
  });

  it("has private targets and other intervals where its user asks for them", async () => {
    writeBackup([
      kumaMonitor(1, "ping", "NAS", { hostname: "nas.local" }),
      kumaMonitor(2, "http", "Router", { url: "http://192.168.1.1/" }),
      kumaMonitor(3, "port", "Here", { hostname: "localhost", port: 22 }),
    ]);
    expect((await importKuma([])).complained).toMatch(/^0 of 3 monitors taken over; 3 not; /m);
    const { said, complained } = await importKuma(["--private", "--min-interval", "5"]);
    expect(parse(said)).toMatchObject({
      monitors: [
        { name: "NAS", url: "nas.local", interval_minutes: 5 },
        { name: "Router", url: "http://192.168.1.1/", interval_minutes: 5 },
        { name: "Here", url: "localhost", interval_minutes: 5 },
      ],
    });
    expect(complained).toContain("NAS: interval changed: 60 s is 5 min");
  });

  it("has private targets that the service takes where its operator allows them, and names the others", async () => {
    writeBackup([
      kumaMonitor(1, "http", "Here", { url: "http://127.0.0.1:3000/" }),
      kumaMonitor(2, "ping", "Router", { hostname: "192.168.1.1" }),
    ]);
    await importKuma(["--private", "-o", document()]);
    const dry = await apply(["--dry-run"]);
    expect(dry).toMatchObject({ status: 2, said: "" });
    expect(dry.complained).toMatch(/^vantage apply: 1 problem; nothing is changed\n.*monitors\.1 \(Router\): url /);
  });
});

const byId = (monitors: readonly Readonly<Record<string, unknown>>[]) =>
  Object.fromEntries(monitors.map((monitor) => [String(monitor["id"]), monitor]));

const NAME = "import uptime-kuma";

describe("a file that is no backup", () => {
  it.each([
    ["[1, 2", "it is no JSON"],
    ["", "it is no JSON"],
    ['{"version": "1.23.0"}', "it has no monitorList, as a backup of Uptime Kuma has"],
    ['{"monitorList": 7}', "it has no monitorList, as a backup of Uptime Kuma has"],
    ["[]", "it has no monitors, which are objects with a type"],
    ['[{"name": "left-pad"}]', "it has no monitors, which are objects with a type"],
    ['{"version": "1.23.0", "monitorList": [{"id": 1}]}', "it has no monitors, which are objects with a type"],
    ['"text"', "it has no monitorList, as a backup of Uptime Kuma has"],
    ['{"monitorList": [], "monitorList": []}', "an object has a name twice"],
    [`{"monitorList": ${"[".repeat(200_000)}${"]".repeat(200_000)}}`, "it has more than 64 levels"],
    [`[${"[],".repeat(1_000_001)}[]]`, "it has more than 1000000 lists and objects"],
    [`[${"{},".repeat(10_000)}{}]`, "it has more than 10000 monitors"],
  ])("is refused: %.40s", async (text, why) => {
    writeFileSync(backup(), text);
    const ran = await importKuma([]);
    expect(ran).toEqual({
      status: 2,
      said: "",
      complained: `vantage ${NAME}: ${backup()} is no backup of Uptime Kuma: ${why}`,
    });
  });

  it("is refused if it is no text, too large, endless or not there", async () => {
    writeFileSync(backup(), Buffer.from([0xff, 0xfe, 0x80]));
    expect((await importKuma([])).complained).toContain("it is not UTF-8");
    writeFileSync(backup(), Buffer.alloc(20 * 1024 * 1024 + 1, " "));
    expect((await importKuma([])).complained).toContain("is larger than 20 MB");
    const endless = await runVantage(["import", "uptime-kuma", "/dev/zero"], {});
    expect(endless).toMatchObject({ status: 2, said: "" });
    expect(endless.complained).toContain("/dev/zero is larger than 20 MB");
    rmSync(backup());
    expect((await importKuma([])).complained).toContain("cannot be read (ENOENT");
  });

  it("leaves the output as it is", async () => {
    writeFileSync(backup(), "{}");
    writeFileSync(document(), "mine");
    expect(await importKuma()).toMatchObject({ status: 2 });
    expect(readFileSync(document(), "utf8")).toBe("mine");
    writeBackup(BACKUP);
    expect(await importKuma(["-o", join(folder, "no", "file")])).toMatchObject({ status: 2, said: "" });
    expect(await importKuma(["--min-interval", "0"])).toMatchObject({ status: 2, said: "" });
  });
});

describe("a hostile backup", () => {
  it.each([
    ["with references", [] as const],
    ["with its secrets", ["--include-secrets"] as const],
  ])("becomes a document that the service takes, %s", async (_how, words) => {
    writeFileSync(backup(), hostileBackup(11, 900));
    const ran = await importKuma([...words, "-o", document()]);
    expect(ran.status).toBe(0);
    const text = readFileSync(document(), "utf8");
    const { monitors } = parse(text) as { readonly monitors: readonly unknown[] };
    expect(monitors.length).toBeGreaterThan(100);
    const variables = Object.fromEntries(
      Array.from(text.matchAll(/env: (KUMA_\w+)/g), ([, name = ""]) => [name, "value"]),
    );
    const dry = await apply(["--dry-run"], variables);
    expect(dry.complained).toBe("");
    expect(dry.said).toContain(`Plan: ${monitors.length} to create`);
  });
});
