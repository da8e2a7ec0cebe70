import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPki } from "#test/servers/pki.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { findFaketime } from "#test/support/faketime.ts";
import { until } from "#test/support/until.ts";

// Debian's libfaketime changes an agent's wall clock but not its monotonic clock, as on a host without NTP.
const LIBRARY = findFaketime();
if (LIBRARY === undefined)
  console.warn("wrong-clock.test.ts skipped: libfaketime is not installed (Debian: libfaketime)");

const HOUR_MS = 3_600_000;
/** The control plane has the database's clock, this file has that of the host. */
const APART_MS = 1_000;

describe.skipIf(LIBRARY === undefined)("an agent whose clock is an hour off", () => {
  let plane: TestControlPlane;
  let key: string;
  let folder: string;
  const agents: AgentProcess[] = [];
  const sites: HttpServer[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "vantage-clock-"));
    const pki = await createPki();
    writeFileSync(join(folder, "root.pem"), pki.root.pem);
    const soon = (minutes: number) => new Date(Date.now() + minutes * 60_000);
    // A clock that is an hour ahead or behind would change the result of each.
    for (const validity of [
      { notAfter: soon(30) },
      { notAfter: soon(-30) },
      { notBefore: soon(30) },
      { notBefore: soon(-30) },
    ]) {
      const leaf = await pki.issue({ ip: ["127.0.0.1"], ...validity });
      const cert = [leaf.pem, pki.intermediate.pem].join("\n");
      sites.push(await startHttpServer({ tls: { key: leaf.keyPem, cert } }));
    }
    plane = await startControlPlane();
    key = await plane.createKey();
    for (const [region, offset] of [
      ["right", null],
      ["ahead", "+1h"],
      ["behind", "-1h"],
    ] as const) {
      const faked = { LD_PRELOAD: LIBRARY ?? "", FAKETIME: offset ?? "", FAKETIME_DONT_FAKE_MONOTONIC: "1" };
      agents.push(
        await startAgent(plane, region, {
          NODE_EXTRA_CA_CERTS: join(folder, "root.pem"),
          ...(offset === null ? {} : faked),
        }),
      );
    }
  });
  afterAll(async () => {
    await Promise.all(agents.map((agent) => agent.stop()));
    await plane?.stop();
    await Promise.all(sites.map((site) => site.close()));
    if (folder !== undefined) rmSync(folder, { recursive: true });
  });

  interface Row {
    readonly location: { readonly region: string };
    readonly status: string;
    readonly data: {
      readonly tls: { readonly error: string | null; readonly authorized: boolean };
      readonly trust_error: string | null;
      readonly certificate: { readonly days_left: number };
      readonly observed_at: string;
    };
  }

  async function everywhere(path: string): Promise<readonly Row[]> {
    const answer = await plane.call(`/api/v4/${path}&locations=right,ahead,behind`, { key });
    const { locations } = answer.body.data as { locations: Row[] };
    expect(locations.map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
    return locations;
  }

  it("really has a wrong clock", () => {
    const times = agents.map((agent) => Date.parse(/"time":"([^"]+)"/.exec(agent.log())?.[1] ?? ""));
    const [right = 0, ahead = 0, behind = 0] = times;
    expect(Math.round((ahead - right) / HOUR_MS)).toBe(1);
    expect(Math.round((behind - right) / HOUR_MS)).toBe(-1);
  });

  it("enrols, attaches and stays attached", async () => {
    const list = async () => {
      const { body } = await plane.operate("GET", "/api/admin/probes");
      return body.data as { region: string; status: string; last_seen_at: string }[];
    };
    const first = new Map((await list()).map((row) => [row.region, Date.parse(row.last_seen_at)]));
    // Longer than any lease and two rounds of presence, by the time of the control plane.
    await until(
      async () =>
        (await list()).every((row) => Date.parse(row.last_seen_at) >= (first.get(row.region) ?? Infinity) + 8_000),
      "each agent is seen 8 s later",
    );
    const rows = await list();
    expect(rows.map(({ region, status }) => `${region} ${status}`)).toEqual([
      "ahead online",
      "behind online",
      "right online",
    ]);
    for (const agent of agents) expect(agent.log().match(/"attached"/g)).toHaveLength(1);
  });

  it("reports the same results for certificates as the others, by the control plane's time", async () => {
    const expected = [null, "expired", "not_yet_valid", null];
    for (const [index, site] of sites.entries()) {
      const port = new URL(site.url).port;
      const checked = await everywhere(`check?url=${site.url}/`);
      expect(checked.map(({ data }) => data.tls.error)).toEqual(Array.from({ length: 3 }, () => expected[index]));
      const looked = await everywhere(`ssl?host=127.0.0.1&port=${port}`);
      expect(looked.map(({ data }) => data.trust_error)).toEqual(Array.from({ length: 3 }, () => expected[index]));
      expect(new Set(looked.map(({ data }) => data.certificate.days_left)).size).toBe(1);
    }
  });

  it("reports the control plane's time of each observation", async () => {
    const before = Date.now();
    const rows = await everywhere(`check?url=${sites[0]?.url}/`);
    const after = Date.now();
    for (const { data } of rows) {
      expect(Date.parse(data.observed_at)).toBeGreaterThanOrEqual(before - APART_MS);
      expect(Date.parse(data.observed_at)).toBeLessThanOrEqual(after + APART_MS);
    }
  });
});
