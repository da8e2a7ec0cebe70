import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { check as checkContract } from "#shared/tools/check/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { httpStatus as statusContract } from "#shared/tools/http-status/contract.ts";
import type { redirects as redirectsContract } from "#shared/tools/redirects/contract.ts";
import { curl, type Curled } from "#test/lab/curl.ts";
import { startLab, type Lab } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { openToolbox, type Toolbox } from "#test/lab/toolbox.ts";
import { endsBy } from "#test/support/deadlines.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

type Check = ResultOf<typeof checkContract>;
type Redirects = ResultOf<typeof redirectsContract>;
type Status = ResultOf<typeof statusContract>;

const HTTP = "http://web.lab.test";
const HTTPS = "https://web.lab.test";
const PATIENCE_S = 3;
const FOLLOW = ["-L", "--max-redirs", "10", "-m", `${PATIENCE_S}`];

/** URLs for which curl and the tools must have the same results. */
const SAME: readonly string[] = [
  ...["/", "/bytes/100000", "/redirect/3", "/redirect/10", "/redirect/2?code=301", "/redirect/2?code=308"].flatMap(
    (path) => [HTTP + path, HTTPS + path],
  ),
  ...[204, 206, 304, 401, 404, 410, 429, 500, 503, 599, 999].map((code) => `${HTTP}/status/${code}`),
  ...[204, 304, 404, 503].map((code) => `${HTTPS}/status/${code}`),
  ...["gzip", "br", "zstd", "deflate", "gzip,br"].map((coding) => `${HTTP}/encoded/${coding}`),
  `${HTTP}/lying/gzip`,
  `${HTTPS}/cookies/5`,
  `${HTTP}/cookies/5`,
  `${HTTP}/trailers`,
  `${HTTP}/hints/2`,
  `${HTTP}/to?url=${HTTPS}/`,
  `${HTTPS}/to?url=${HTTP}/`,
  `${HTTP}/to?url=%2F%2Fweb.lab.test%2Fbytes%2F5`,
  `${HTTP}/to?url=https://h3.tls.test/status/404`,
  ...["secure", "mixed", "cached", "cors", "cookies"].map((page) => `${HTTPS}/site/${page}`),
  "https://h3.tls.test/",
  "https://http1-only.tls.test/",
];

/** An answer for which curl and the tools differ because of a rule of ours. */
interface Parting {
  readonly rule: string;
  readonly url: string;
  /** For `curl -L`: exit status and status codes of the last answer. */
  readonly curl: Partial<Curled>;
  readonly check: unknown;
  readonly redirects: unknown;
}

const target = (stage: string, reason: string): unknown => ({ status: "failed", stage, source: "target", reason });
const ended = (data: unknown): unknown => ({ status: "ok", data });
const REFUSED = { status: "refused" };

const PARTINGS: readonly Parting[] = [
  {
    rule: "a loop is reported at its first return, not by counting to the limit",
    url: `${HTTP}/loop`,
    curl: { exit: 47, redirects: 10 },
    check: target("response", "redirect_loop"),
    redirects: ended({ loop: true, count: 0, final_code: 302 }),
  },
  {
    rule: "a loop is reported at its first return, not by counting to the limit",
    url: `${HTTPS}/ping`,
    curl: { exit: 47, redirects: 10 },
    check: target("response", "redirect_loop"),
    redirects: ended({ loop: true, count: 1, final_code: 302 }),
  },
  {
    rule: "too many redirects are a failure of check, and a chain cut short for redirects",
    url: `${HTTP}/redirect/11`,
    curl: { exit: 47, redirects: 10 },
    check: target("response", "too_many_redirects"),
    redirects: ended({ truncated: true, loop: false, count: 10, final_code: 302 }),
  },
  ...["http://127.0.0.1/", "http://169.254.169.254/", "http://user:pw@web.lab.test/"].map((to) => ({
    rule: "no redirect leads to an address that must not be reached, nor to a URL with a password",
    url: `${HTTP}/to?url=${to}`,
    curl: { redirects: 1, finalUrl: to },
    check: REFUSED,
    redirects: REFUSED,
  })),
  {
    rule: "300 is no redirect (fetch standard, redirect status)",
    url: `${HTTP}/status/300?location=/bytes/5`,
    curl: { exit: 0, code: 200, redirects: 1 },
    check: ended({ code: 300, redirects: [], stopped: null }),
    redirects: ended({ count: 0, final_code: 300 }),
  },
  {
    rule: "of several Locations none is followed",
    url: `${HTTP}/to?url=/bytes/1&url=/bytes/2`,
    curl: { exit: 0, code: 200, redirects: 1, size: 1 },
    check: ended({ code: 302, redirects: [], stopped: "bad_location" }),
    redirects: ended({ count: 0, final_code: 302 }),
  },
  {
    rule: "only http and https are followed",
    url: `${HTTP}/to?url=ftp://web.lab.test/`,
    curl: { exit: 7, redirects: 1 },
    check: ended({ code: 302, redirects: [], stopped: "bad_location" }),
    redirects: ended({ count: 0, final_code: 302 }),
  },
  {
    rule: "a redirect to a name that does not exist fails the check, and is where the chain ends for redirects",
    url: `${HTTP}/to?url=http://none.lab.test/`,
    curl: { exit: 6, redirects: 1 },
    check: target("dns", "nxdomain"),
    redirects: ended({
      count: 0,
      final_code: 302,
      failure: expect.objectContaining({ url: "http://none.lab.test/", stage: "dns", reason: "nxdomain" }) as unknown,
    }),
  },
  {
    rule: "a body that breaks off still leaves an answer, and is reported",
    url: `${HTTP}/short`,
    curl: { exit: 18, code: 200 },
    check: ended({ code: 200, body: expect.objectContaining({ error: "incomplete" }) as unknown }),
    redirects: ended({ count: 0, final_code: 200 }),
  },
  {
    rule: "an end before any answer",
    url: `${HTTP}/reset-early`,
    curl: { exit: 56, code: 0 },
    check: target("response", "reset"),
    redirects: target("response", "reset"),
  },
  {
    rule: "nobody listens",
    url: "http://rdap-dead.lab.test/",
    curl: { exit: 7, code: 0 },
    check: target("connect", "refused"),
    redirects: target("connect", "refused"),
  },
  {
    rule: "a bad certificate is reported, and does not end the check",
    url: "https://expired.tls.test/",
    curl: { exit: 60, code: 0 },
    check: ended({ code: 200, tls: expect.objectContaining({ authorized: false, error: "expired" }) as unknown }),
    redirects: ended({ final_code: 200 }),
  },
  {
    rule: "what is no TLS",
    url: "https://plain-text.tls.test/",
    curl: { exit: 35, code: 0 },
    check: target("tls", "not_tls"),
    redirects: target("tls", "not_tls"),
  },
];

describe.skipIf(why !== null)("check, redirects and http-status compared with curl", () => {
  let lab: Lab;
  let toolbox: Toolbox;
  beforeAll(async () => {
    lab = await startLab();
    toolbox = await openToolbox(lab);
  });
  afterAll(() => lab?.close());

  function curled(url: string, options: readonly string[] = []): Promise<Curled> {
    return curl(lab.network, "probe-eu", url, lab.web.rootFile, options);
  }

  it.concurrent.each(SAME)("%s", async (url) => {
    const [check, redirects, status, once, followed] = await Promise.all([
      toolbox.getResult<Check>("check", { url }),
      toolbox.getResult<Redirects>("redirects", { url }),
      toolbox.getResult<Status>("http-status", { url }),
      curled(url),
      curled(url, FOLLOW),
    ]);
    expect([once.exit, followed.exit]).toEqual([0, 0]);
    expect({
      code: check.code,
      finalUrl: check.final_url,
      redirects: check.redirects.length,
      httpVersion: check.http_version,
      ip: check.ip,
      port: check.port,
      size: check.body.transferred_bytes,
      headers: undated(check.headers.map(({ name, value }) => [name, value])),
    }).toEqual({
      code: followed.code,
      finalUrl: followed.finalUrl,
      redirects: followed.redirects,
      httpVersion: followed.httpVersion,
      ip: followed.ip,
      port: followed.port,
      size: followed.size,
      headers: undated(followed.headers),
    });
    expect({
      count: redirects.count,
      finalUrl: redirects.final_url,
      code: redirects.final_code,
      codes: redirects.hops.map(({ code }) => code),
    }).toEqual({
      count: followed.redirects,
      finalUrl: followed.finalUrl,
      code: followed.code,
      codes: followed.codes.filter((code) => code >= 200),
    });
    expect({
      code: status.code,
      httpVersion: status.http_version,
      ip: status.ip,
      port: status.port,
      location: status.location,
      informational: status.informational,
    }).toEqual({
      code: once.code,
      httpVersion: once.httpVersion,
      ip: once.ip,
      port: once.port,
      location: once.redirectUrl,
      informational: once.codes.filter((code) => code < 200),
    });
    const length = once.headers.find(([name]) => name.toLowerCase() === "content-length")?.[1];
    expect(status.content_length).toBe(length === undefined ? null : Number(length));
  });

  it.concurrent.each(PARTINGS)("$rule: $url", async ({ url, ...expected }) => {
    const [check, redirects, followed] = await Promise.all([
      toolbox.run<Check>("check", { url }),
      toolbox.run<Redirects>("redirects", { url }),
      curled(url, FOLLOW),
    ]);
    expect(followed).toMatchObject(expected.curl);
    expect(check).toMatchObject(expected.check as Outcome<Check>);
    expect(redirects).toMatchObject(expected.redirects as Outcome<Redirects>);
  });

  it.concurrent.each(["/silent", "/drip?ms=200"])("%s: both give up when their time is over", async (path) => {
    const url = HTTP + path;
    const [check, patient] = await endsBy(PATIENCE_S * 1_000, () =>
      Promise.all([toolbox.run<Check>("check", { url, timeout: PATIENCE_S }), curled(url, ["-m", `${PATIENCE_S}`])]),
    );
    expect(patient).toMatchObject({ exit: 28, code: 0 });
    expect(check).toMatchObject({ status: "failed", stage: "response", source: "target", reason: "timeout" });
  });

  it("an endless body is cut at a limit that the result reports, while curl reads until its time ends", async () => {
    const url = `${HTTP}/endless-body`;
    const check = await toolbox.getResult<Check>("check", { url });
    expect(check).toMatchObject({ code: 200, body: { truncated: true, error: null } });
    expect(check.body.transferred_bytes).toBeLessThanOrEqual(6 * 1024 * 1024);
    expect((await curled(url, ["-m", "1"])).exit).toBe(28);
  });
});

/**
 * Returns the header fields without the date, which is that of the request. HTTP/1 fields that describe the connection
 * are kept.
 */
function undated(headers: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return headers.filter(([name]) => name.toLowerCase() !== "date");
}
