import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { MonitorResult } from "#shared/monitor-checks/define.ts";
import { monitorHttp } from "#probe-agent/monitor-checks/monitor-http.ts";
import { monitorSsl } from "#probe-agent/monitor-checks/monitor-ssl.ts";
import { certificateList, type CrlEntry } from "#test/servers/crl.ts";
import { startHttpServer, type HttpServer, type HttpServerOptions } from "#test/servers/http.ts";
import { ocspResponse } from "#test/servers/ocsp.ts";
import { createPki, daysFromNow, issue, type Issued, type Pki } from "#test/servers/pki.ts";
import { parsed } from "#test/servers/signing.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { verdictOf } from "#test/support/monitor-check.ts";

const REVOKED_AT = daysFromNow(-2);
const REVOKED = {
  stage: "tls",
  reason: "revoked",
  message: `certificate was revoked on ${REVOKED_AT.toISOString().slice(0, 10)} (key compromise)`,
};

/** Answer of the authority. */
type Saying = "good" | "revoked" | "silence" | "nonsense" | number;

/** An https page and the authority that its certificate names. */
interface Site {
  readonly url: string;
  /** Number of questions so far. */
  asked(): number;
  /** Sets the answer to later questions. `nextMinutes`: time until the announced next update. */
  say(saying: Saying, nextMinutes?: number): void;
  /** Checks the page so many minutes after the test has begun. */
  check(minutes: number, given?: Readonly<Record<string, unknown>>, path?: string): Promise<MonitorResult>;
}

let pki: Pki;
const servers: HttpServer[] = [];
beforeAll(async () => {
  pki = await createPki();
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(options: HttpServerOptions): Promise<HttpServer> {
  const server = await startHttpServer(options);
  servers.push(server);
  return server;
}

const later = (minutes: number) => new Date(Date.now() + minutes * 60_000);
const setting = (minutes: number) => ({ roots: [pki.root.pem], now: () => later(minutes) });

async function openSite(): Promise<Site> {
  let now: { saying: Saying; nextMinutes: number } = { saying: "good", nextMinutes: 10_000 };
  const known: { leaf?: Issued } = {};
  const authority = await start({
    handler: (_request, response) => {
      const { saying, nextMinutes } = now;
      if (saying === "silence") return true;
      if (typeof saying === "number") response.writeHead(saying).end();
      else if (saying === "nonsense" || known.leaf === undefined) response.end("good, believe me");
      else {
        const status = saying === "good" ? saying : { at: REVOKED_AT, reason: 1 };
        const about = { certificate: known.leaf, issuer: pki.intermediate, nextUpdate: later(nextMinutes), status };
        response.end(ocspResponse({ signer: pki.intermediate, singles: [about] }));
      }
      return true;
    },
  });
  known.leaf = await pki.issue({ ip: ["127.0.0.1"], ocspUrls: [`${authority.url}/ocsp`] });
  const server = await start({ tls: identityOf(known.leaf, pki.intermediate), h2: true });
  return {
    url: server.url,
    asked: () => authority.requests.length,
    say: (saying, nextMinutes = 10_000) => (now = { saying, nextMinutes }),
    check: (minutes, given = {}, path = "/") =>
      verdictOf(monitorHttp, { url: server.url + path, ...given }, setting(minutes)),
  };
}

describe("an https page whose certificate is revoked", () => {
  it("is down when the answer that was kept has expired, and asks once an hour", async () => {
    const site = await openSite();
    for (const minutes of [0, 1, 30, 59]) expect(await site.check(minutes)).toMatchObject({ verdict: "up" });
    expect(site.asked()).toBe(1);
    site.say("revoked");
    expect(await site.check(59.5)).toMatchObject({ verdict: "up" });
    const result = await site.check(61);
    expect(result).toMatchObject({ verdict: "down", http_status: 200, fault: REVOKED });
    expect(result.whole).toMatchObject({ code: 200, tls: { authorized: false, error: "revoked" } });
    for (const minutes of [62, 90, 119]) expect(await site.check(minutes)).toMatchObject({ fault: REVOKED });
    expect(site.asked()).toBe(2);
  });

  it("is down at the first check, whatever else is examined, and the certificate is named first", async () => {
    const site = await openSite();
    site.say("revoked");
    expect(await site.check(0, { keyword: "Hello", known: null })).toMatchObject({ verdict: "down", fault: REVOKED });
    expect(await site.check(0, { keyword: "nothing" })).toMatchObject({ fault: REVOKED });
    expect(await site.check(0, {}, "/status/503")).toMatchObject({ http_status: 503, fault: REVOKED });
    expect(site.asked()).toBe(1);
  });

  it("is down also if only the page that a redirect leads to has it", async () => {
    const [site, target] = [await openSite(), await openSite()];
    target.say("revoked");
    const { fault } = await site.check(0, {}, `/to?url=${target.url}/`);
    const { host } = new URL(target.url);
    expect(fault).toEqual({ ...REVOKED, message: `after a redirect, at ${host}: ${REVOKED.message}` });
    expect(await target.check(0, {}, `/to?url=${site.url}/`)).toMatchObject({ fault: REVOKED, http_status: 200 });
  });

  it("is down also if an authority above it is revoked, by the list of the root", async () => {
    const entries: CrlEntry[] = [];
    const lists = await start({
      handler: (_request, response) => {
        response.end(certificateList({ issuer: pki.root, entries }));
        return true;
      },
    });
    const lost = await issue({
      ca: true,
      subject: "Lost Intermediate",
      issuer: pki.root,
      crlUrls: [`${lists.url}/root.crl`],
      notAfter: daysFromNow(900),
    });
    entries.push({ serialNumber: parsed(lost).serialNumber, reason: 2 });
    const leaf = await issue({ ip: ["127.0.0.1"], issuer: lost });
    const server = await start({ tls: identityOf(leaf, lost) });
    const { fault } = await verdictOf(monitorHttp, { url: server.url }, setting(0));
    expect(fault).toMatchObject({ stage: "tls", reason: "revoked" });
    expect(fault?.message).toMatch(/^authority CN=Lost Intermediate was revoked on [0-9-]+ \(ca compromise\)$/);
  });

  it("stays down while its authority is silent, and is up when it says that the certificate is good", async () => {
    const site = await openSite();
    site.say("revoked");
    await site.check(0);
    site.say(503);
    expect(await site.check(61)).toMatchObject({ fault: REVOKED });
    site.say("good");
    expect(await site.check(67)).toMatchObject({ verdict: "up", fault: null });
  });

  it("is known to be so from the daily look of this agent", async () => {
    const site = await openSite();
    await site.check(0);
    site.say("revoked");
    const { port } = new URL(site.url);
    await verdictOf(monitorSsl, { host: "127.0.0.1", port: Number(port), always_whole: true }, setting(5));
    expect(await site.check(6)).toMatchObject({ fault: REVOKED });
    expect(site.asked()).toBe(2);
  });
});

describe("the authority of an https page", () => {
  it.each([["silence"], ["nonsense"], [503]] as const)(
    "that answers with %s makes no page down, and is asked again after 5 minutes, then 10, up to an hour",
    async (saying) => {
      const site = await openSite();
      site.say(saying);
      const counts: number[] = [];
      const perQuestion = saying === 503 ? 2 : 1; // An error of HTTP is followed by one GET.
      for (const minutes of [0, 1, 4, 6, 7, 15, 17, 36, 38]) {
        expect(await site.check(minutes)).toMatchObject({ verdict: "up" });
        counts.push(site.asked() / perQuestion);
      }
      expect(counts).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 4]);
    },
  );

  it("is asked again when it announces a newer answer, at the earliest after 5 minutes", async () => {
    const site = await openSite();
    site.say("good", 20);
    await site.check(0);
    site.say("good", 22);
    expect(await site.check(19)).toMatchObject({ verdict: "up" });
    expect(site.asked()).toBe(1);
    await site.check(21);
    expect(site.asked()).toBe(2);
    // The new answer holds for a minute.
    site.say("revoked");
    expect(await site.check(24)).toMatchObject({ verdict: "up" });
    expect(site.asked()).toBe(2);
    expect(await site.check(27)).toMatchObject({ fault: REVOKED });
  });

  it("is asked once by checks at the same time, which all get its answer", async () => {
    const site = await openSite();
    site.say("revoked");
    const results = await Promise.all(Array.from({ length: 10 }, () => site.check(0)));
    expect(new Set(results.map(({ verdict }) => verdict))).toEqual(new Set(["down"]));
    expect(site.asked()).toBe(1);
  });

  it("is not asked while something else is wrong, so that it delays no outage", async () => {
    const site = await openSite();
    site.say("silence");
    expect(await site.check(0, {}, "/status/503")).toMatchObject({ fault: { reason: "unexpected_status" } });
    expect(site.asked()).toBe(0);
  });
});
