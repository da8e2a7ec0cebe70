import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "#test/laws/source-files.ts";
import { whyNoExporter } from "#test/lab/exporter.ts";
import {
  differences,
  pathOf,
  splitDebug,
  startProgram,
  writeModules,
  type Asked,
  type Running,
  type Said,
} from "#test/lab/parity/both.ts";
import type { Case } from "#test/lab/parity/case.ts";
import { DNS_CASES } from "#test/lab/parity/cases-dns.ts";
import { HTTP_CASES } from "#test/lab/parity/cases-http.ts";
import { otherCases } from "#test/lab/parity/cases-icmp-grpc.ts";
import { REQUEST_CASES } from "#test/lab/parity/cases-requests.ts";
import { TCP_CASES } from "#test/lab/parity/cases-tcp.ts";
import { TLS_CASES } from "#test/lab/parity/cases-tls.ts";
import { VERDICT_CASES } from "#test/lab/parity/cases-verdicts.ts";
import { WEB_CASES } from "#test/lab/parity/cases-web.ts";
import { WANTED } from "#test/lab/parity/wanted.ts";
import { hasIpv6, startWorld, type World } from "#test/lab/parity/world.ts";

// Debian's prometheus-blackbox-exporter and ours read the same blackbox.yml and probe the same servers.
const missing = whyNoExporter();
if (missing !== null) console.warn(`exporter-parity.test.ts ${missing}`);

const OURS = join(ROOT, "probe-agent/exporter/main.ts");
const PATIENT = "4";
const CASES: readonly Case[] = [
  // First, because Debian's takes twenty seconds for a gRPC server that says nothing, whatever the limit.
  ...otherCases(await hasIpv6()),
  ...HTTP_CASES,
  ...REQUEST_CASES,
  ...VERDICT_CASES,
  ...WEB_CASES,
  ...TLS_CASES,
  ...TCP_CASES,
  ...DNS_CASES,
];
/** A module without options, for requests that are about the exporter and not about a target. */
const PLAIN = CASES.find(({ what }) => what === "tcp: a module without options") as Case;
const PLAIN_INDEX = CASES.indexOf(PLAIN);
const NUMBERED = CASES.map((each, index) => ({ ...each, index }));

let folder: string;
let world: World;
let theirs: Running;
let ours: Running;

beforeAll(async () => {
  if (missing !== null) return;
  folder = mkdtempSync(join(tmpdir(), "vantage-parity-"));
  world = await startWorld(folder);
  const [config, ourConfig] = [join(folder, "blackbox.yml"), join(folder, "ours.yml")];
  writeModules(config, () => true, CASES, world.places);
  writeModules(ourConfig, (each) => each.refused === undefined, CASES, world.places);
  writeModules(join(folder, "refused.yml"), (each) => each.refused !== undefined, CASES, world.places);
  theirs = await startProgram((address) => ({
    command: ["prometheus-blackbox-exporter", "--config.file", config, "--web.listen-address", address],
    env: { SSL_CERT_FILE: world.rootsFile, SSL_CERT_DIR: join(folder, "none") },
  }));
  ours = await startProgram((address) => ({
    command: [process.execPath, OURS],
    env: {
      VANTAGE_EXPORTER: address,
      VANTAGE_EXPORTER_CONFIG_FILE: ourConfig,
      NODE_EXTRA_CA_CERTS: world.rootsFile,
    },
  }));
  world.removeFiles();
});
afterAll(async () => {
  await Promise.all([theirs?.stop(), ours?.stop()]);
  await world?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

/** The type of an answer without its charset. */
const mediaType = ({ type }: Said): string | undefined => type?.split(";")[0];

/** Asks both at the same time. */
function askBoth(path: string, given: Asked, theirPath = path): Promise<readonly [Said, Said]> {
  return Promise.all([theirs.ask(theirPath, given), ours.ask(path, given)]);
}

describe.skipIf(missing !== null).concurrent("Debian's exporter and ours", () => {
  it.each(NUMBERED)("say the same: $what", async ({ index, ...each }) => {
    const path = pathOf(each, index, world.places);
    const [first, mine] = await askBoth(path, { seconds: each.seconds ?? PATIENT }, `${path}&debug=true`);
    const { log, said } = splitDebug(first);
    const success = /^probe_success 1$/m.test(said.text);
    if (typeof each.shows === "number") expect(said.status, log).toBe(each.shows);
    else expect(success, log).toBe(each.shows === "success");
    if (each.shows instanceof RegExp) expect(log).toMatch(each.shows);
    if (each.refused !== undefined) return;
    const found = differences(said, mine);
    const wanted = WANTED[each.what];
    expect(
      found.filter((line) => wanted?.names.test(line) !== true),
      log,
    ).toEqual([]);
    // One that is gone has to leave the list.
    expect(found.length > 0, log).toBe(wanted !== undefined);
  });

  it("differ on purpose in cases that there are", () => {
    const named = new Set(CASES.map(({ what }) => what));
    expect(Object.keys(WANTED).filter((what) => !named.has(what) && !what.includes("::1"))).toEqual([]);
  });

  it("have the same modules, except for those that ours refuses before any probe", () => {
    const refused = NUMBERED.filter((each) => each.refused !== undefined).map(({ index }) => `case_${index}`);
    const { status, stderr } = spawnSync(process.execPath, [OURS, "check"], {
      env: { VANTAGE_EXPORTER_CONFIG_FILE: join(folder, "refused.yml") },
      encoding: "utf8",
    });
    const named = Array.from(stderr.matchAll(/: (case_\d+)\./g), ([, name]) => name);
    expect({ status, named }, stderr).toEqual({ status: 1, named: refused });
  });

  it.each(["/", "/config", "/metrics", "/-/healthy", "/-/reload", "/logs?id=999999"])(
    "have the same kind of page at %s",
    async (path) => {
      const [first, mine] = await askBoth(path, {});
      expect([mine.status, mediaType(mine)]).toEqual([first.status, mediaType(first)]);
    },
  );

  it.each(["*/*", "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "text/plain"])(
    "have metrics in the same format for %s",
    async (accept) => {
      const path = pathOf(PLAIN, PLAIN_INDEX, world.places);
      const [first, mine] = await askBoth(path, { accept });
      expect(mine.type).toBe(first.type);
      expect(differences(first, mine)).toEqual([]);
    },
  );

  it("have the same parts in the answers with debug=true", async () => {
    const path = pathOf(PLAIN, PLAIN_INDEX, world.places);
    const [first, mine] = await askBoth(`${path}&debug=true`, {});
    const titles = ({ text }: Said): string[] => text.split("\n").filter((line) => /^[A-Z][a-z ]+:$/.test(line));
    expect([mediaType(mine), titles(mine)]).toEqual([mediaType(first), titles(first)]);
    expect(differences(splitDebug(first).said, splitDebug(mine).said)).toEqual([]);
  });
});

const said = (text: string, status = 200): Said => ({ status, type: null, text });
const GOOD = "# HELP probe_x X\n# TYPE probe_x gauge\nprobe_x 1\nprobe_duration_seconds 0.5\n";

it.each<[string, Said, readonly string[]]>([
  ["none", said(GOOD), []],
  ["none in a duration", said(GOOD.replace("0.5", "0.7")), []],
  ["a duration below zero", said(GOOD.replace("0.5", "-1")), ["probe_duration_seconds -1, the whole probe -0.999"]],
  ["a value", said(GOOD.replace("x 1", "x 2")), ["probe_x 1, ours 2"]],
  ["a help text", said(GOOD.replace("X", "Y")), ["missing: # HELP probe_x X", "unexpected: # HELP probe_x Y"]],
  ["a label", said(GOOD.replace("x 1", 'x{a="b"} 1')), ['unexpected: probe_x{a="b"}', "missing: probe_x 1"]],
  ["a status", said("no\n", 400), ["status: 200, ours 400 (no)"]],
])("differences are found: %s", (_, other, found) => {
  expect(differences(said(GOOD), other)).toEqual(found);
});
