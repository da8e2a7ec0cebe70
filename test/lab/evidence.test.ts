import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf } from "#test/lab/addresses.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { keepIssued, readAuthority } from "#test/lab/services/authority.ts";
import { startDaemon, type Daemon } from "#test/lab/services/daemon.ts";
import { LAB } from "#test/lab/topology.ts";
import { until } from "#test/support/until.ts";
import { EVERYWHERE, SOON, startWatchedLab, type WatchedLab } from "#test/lab/watched.ts";
import { daysFromNow } from "#test/servers/pki.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const why = whyNoLab() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

/** Answers 200, and 500 after SIGUSR2. */
const HTTP = `let status = 200; process.on("SIGUSR2", () => { status = 500; });
require("node:http").createServer((_, response) => response.writeHead(status).end("ok")).listen(PORT, () => console.log("ready"));`;
/** Serves the certificate "evidence-good", and "evidence-expired" after SIGUSR2. */
const HTTPS = `const { readFileSync } = require("node:fs");
const read = (name) => ({
  cert: readFileSync(FOLDER + "/pki-" + name + ".pem", "utf8") + readFileSync(FOLDER + "/pki-intermediate.pem", "utf8"),
  key: readFileSync(FOLDER + "/pki-" + name + ".key", "utf8"),
});
const server = require("node:https").createServer(read("evidence-good"), (_, response) => response.end("ok"));
process.on("SIGUSR2", () => server.setSecureContext(read("evidence-expired")));
server.listen(PORT, () => console.log("ready"));`;

/** An incident with its evidence as the API shows it. */
interface Examined {
  readonly cause: { readonly code: string; readonly message: string };
  readonly evidence: {
    readonly gathered_at: string;
    readonly failing: Place;
    readonly healthy: Place | null;
    readonly dns: {
      readonly host: { readonly data: { readonly results: readonly { readonly status: string }[] } };
    } | null;
    readonly certificate: { readonly trusted: boolean; readonly trust_error: string | null } | null;
    readonly changed: readonly { readonly field: string; readonly before: string; readonly after: string }[];
    readonly summary: readonly [cause: string, changed: string, where: string];
  };
}

interface Place {
  readonly location: string;
  readonly check: { readonly verdict: string; readonly http_status: number | null };
  readonly trace: { readonly status: string; readonly data?: { readonly reached: boolean } } | null;
}

/** What the three lines of an outage must say: the cause, what has changed, and where it fails. */
type Lines = readonly [cause: RegExp, changed: RegExp, where: RegExp];

/** Nothing but times, which change on a busy machine. */
const UNCHANGED =
  /^(?:Nothing that can be compared has changed since the good check at [\d-]+ [\d:]+ UTC|Changed since the good check at [\d-]+ [\d:]+ UTC: time .*)$/;
const EVERYWHERE_FAILS = "^Fails from everywhere that was checked: [a-z-]+, [a-z-]+, [a-z-]+; the trace from [a-z-]+";

/** Returns the expression for a line about changes, the first of which is the given one. */
function changedTo(text: string): RegExp {
  return new RegExp(`^Changed since the good check at [\\d-]+ [\\d:]+ UTC: ${text}(?:; |$)`);
}

function withoutPlaces(cause: string): string {
  return cause.replace(/ (?:in|from) [a-z-]+[a-z, -]*/, "");
}

describe.skipIf(why !== null)("the evidence of an outage, as the person on call reads it", () => {
  let lab: WatchedLab;
  const servers = new Map<string, Daemon>();
  const monitors = new Map<string, number>();

  beforeAll(async () => {
    lab = await startWatchedLab();
    const { network } = lab;
    const authority = await readAuthority(network.folder);
    const names = { dns: ["web.lab.test"] };
    const [good, expired] = await Promise.all([
      authority.issue(names),
      authority.issue({ ...names, notBefore: daysFromNow(-90), notAfter: daysFromNow(-1) }),
    ]);
    keepIssued(network.folder, "evidence-good", good);
    keepIssued(network.folder, "evidence-expired", expired);
    const start = async (name: string, node: string, port: number, program: string): Promise<void> => {
      const text = program.replace("PORT", String(port)).replaceAll("FOLDER", JSON.stringify(network.folder));
      servers.set(name, await startDaemon(network, { node, command: [process.execPath, "-e", text], ready: "ready" }));
    };
    await Promise.all([
      start("closed", "web", 8001, HTTP),
      start("broken", "web", 8002, HTTP),
      start("named", "web", 8003, HTTP),
      start("expired", "web", 8443, HTTPS),
      start("partly", "web", 8005, HTTP),
      start("cut", "svc", 8004, HTTP),
    ]);
    const watched = [
      ["closed", `http://${addressOf(LAB, "web")}:8001/`],
      ["broken", "http://web.lab.test:8002/"],
      ["named", "http://www.unsigned.test:8003/"],
      ["expired", "https://web.lab.test:8443/"],
      ["cut", `http://${addressOf(LAB, "svc")}:8004/`],
      ["partly", `http://${addressOf(LAB, "wrong-host")}:8005/`],
    ] as const;
    for (const [name, url] of watched) monitors.set(name, await lab.watch(url));
    // Each location has reported one good check in full.
    const count = async () =>
      (await lab.query<{ n: number }>("select count(*)::integer as n from monitor_baselines"))[0]?.n;
    await until(
      async () => (await count()) === watched.length * EVERYWHERE.length,
      "a baseline of each monitor at each location",
    );
  });
  afterAll(() => lab?.close());

  /** Waits until a monitor is down and its evidence gathered, which must say this. */
  async function examine(name: string, lines: Lines): Promise<Examined> {
    const id = monitors.get(name) ?? 0;
    await lab.run(id);
    const { plane } = lab.service;
    const read = async (): Promise<Examined | null> => {
      const rows = (await plane.call(`/api/v4/incidents?monitor_id=${id}`, { key: lab.key })).body.data as readonly {
        id: number;
      }[];
      const [newest] = rows;
      if (newest === undefined) return null;
      return (await plane.call(`/api/v4/incidents?id=${newest.id}`, { key: lab.key })).body.data;
    };
    await expect.poll(async () => (await read())?.evidence ?? null, SOON).not.toBeNull();
    const found = await read();
    if (found === null) throw new Error("no incident");
    const { evidence } = found;
    console.log([`${name}:`, ...evidence.summary].join("\n  "));
    expect(evidence.summary).toHaveLength(3);
    for (const [index, line] of lines.entries()) expect(evidence.summary[index]).toMatch(line);
    // The cause is described again when further locations fail.
    expect(withoutPlaces(evidence.summary[0])).toBe(withoutPlaces(found.cause.message));
    return found;
  }

  it("of a closed port says that the host is reached and nothing has changed but the port", async () => {
    await servers.get("closed")?.stop();
    const { cause, evidence } = await examine("closed", [
      /^Connection refused from .+ \(port 8001\)$/,
      UNCHANGED,
      new RegExp(`${EVERYWHERE_FAILS} reaches the target$`),
    ]);
    expect(cause.code).toBe("connect_refused");
    expect(evidence.failing).toMatchObject({ check: { verdict: "down" }, trace: { data: { reached: true } } });
    expect(evidence.changed.filter(({ field }) => !field.endsWith("_ms"))).toEqual([]);
  });

  it("of an application that answers 500 says what it answered before", async () => {
    servers.get("broken")?.kill("SIGUSR2");
    const { cause, evidence } = await examine("broken", [
      /^HTTP 500 instead of 200 from /,
      changedTo("status 200 -> 500"),
      new RegExp(`${EVERYWHERE_FAILS} reaches the target$`),
    ]);
    expect(cause.code).toBe("http_status");
    expect(evidence.failing.check).toMatchObject({ verdict: "down", http_status: 500 });
    // On a busy machine it can be slow too.
    expect(evidence.changed[0]).toMatchObject({ field: "status", before: "200", after: "500" });
  });

  it("of a name that is gone says which addresses it had", async () => {
    const file = join(lab.network.folder, "dns", "unsigned.test-dns-ns1-dns-ns2.zone");
    const zone = readFileSync(file, "utf8").replace(" 1 3600 600", " 2 3600 600");
    writeFileSync(
      file,
      zone
        .split("\n")
        .filter((line) => !line.startsWith("www "))
        .join("\n"),
    );
    for (const server of ["dns-ns1", "dns-ns2"]) lab.names.daemons.get(server)?.kill("SIGHUP");
    const answer = () =>
      lab.network.run("probe-eu", ["dig", "+short", `@${addressOf(LAB, "dns-ns1")}`, "www.unsigned.test"]);
    await expect.poll(async () => (await answer()).stdout, SOON).toBe("");
    await lab.resolvers.flush("unsigned.test");
    const { cause, evidence } = await examine("named", [
      /^DNS: NXDOMAIN for www\.unsigned\.test from /,
      changedTo("addresses .*198\\.51\\.100\\.\\d+.* -> none"),
      new RegExp(`${EVERYWHERE_FAILS} reaches its last known address [0-9a-f.:]+$`),
    ]);
    expect(cause.code).toBe("dns_nxdomain");
    expect(evidence.dns?.host.data.results[0]?.status).toBe("NXDOMAIN");
    expect(evidence.changed[0]).toMatchObject({ field: "addresses", after: "none" });
    expect(evidence.changed[0]?.before).toContain(addressOf(LAB, "good"));
  });

  it("of an expired certificate shows both certificates", async () => {
    servers.get("expired")?.kill("SIGUSR2");
    const one = "[0-9a-f]{16} of CN=Lab Intermediate, valid until [0-9TZ:.-]+";
    const { cause, evidence } = await examine("expired", [
      /^Certificate not trusted from .+: certificate expired 1 day ago$/,
      changedTo(`certificate ${one} -> ${one}`),
      new RegExp(`${EVERYWHERE_FAILS} reaches the target$`),
    ]);
    expect(cause.code).toBe("tls_certificate_expired");
    expect(evidence.certificate).toMatchObject({ trusted: false, trust_error: "expired" });
    expect(evidence.changed.map(({ field }) => field)).toContain("certificate");
  });

  it("of a network that two of three locations cannot cross says from where it works", async () => {
    await Promise.all([lab.network.cut("probe-eu", "web"), lab.network.cut("probe-us", "web")]);
    const { evidence } = await examine("partly", [
      /^No connection within 2 s from (?:eu-west and us-east|us-east and eu-west) \(port 8005\)$/,
      UNCHANGED,
      /^Fails from eu-west, us-east; works from ap-southeast; the trace from .* ends at hop \d+, .*; the trace from ap-southeast reaches the target$/,
    ]);
    expect(evidence.failing).toMatchObject({ check: { verdict: "down" }, trace: { data: { reached: false } } });
    expect(evidence.healthy).toMatchObject({
      location: "ap-southeast",
      check: { verdict: "up", http_status: 200 },
      trace: { data: { reached: true } },
    });
    await Promise.all([lab.network.heal("probe-eu", "web"), lab.network.heal("probe-us", "web")]);
  });

  it("of a cut link says where the path ends", async () => {
    await lab.network.links.set("svc", { down: true });
    const { cause, evidence } = await examine("cut", [
      /^No connection within 2 s from .+ \(port 8004\)$/,
      UNCHANGED,
      new RegExp(`${EVERYWHERE_FAILS} ends at hop \\d+, \\S+ \\([0-9a-f.:]+\\)$`),
    ]);
    expect(cause.code).toBe("connect_timeout");
    expect(evidence.failing).toMatchObject({
      check: { verdict: "down" },
      trace: { status: "ok", data: { reached: false } },
    });
    expect(evidence.healthy).toBeNull();
  });
});
