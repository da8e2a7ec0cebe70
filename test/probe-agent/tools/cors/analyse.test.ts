import { describe, expect, it } from "vitest";
import { analyseCors, CORS_ADVICE, describeCorsFindings } from "#probe-agent/tools/cors/analyse.ts";
import { corsGrant, preflightGrant, readCorsHeaders } from "#probe-agent/tools/cors/check.ts";
import type { CorsExchange } from "#probe-agent/tools/cors/exchange.ts";
import { probeOrigins } from "#probe-agent/tools/cors/origins.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { expectWellFormed } from "#test/support/findings.ts";

const TARGET = new URL("https://www.example.co.uk/api");
const GIVEN = "https://app.example.net";
const ACAO = "Access-Control-Allow-Origin";
const ACAC = "Access-Control-Allow-Credentials";
const COOKIES: HeaderPair = [ACAC, "true"];
const allow = (...origins: readonly string[]) => origins.map((origin): HeaderPair => [ACAO, origin]);

type Server = (origin: string | null, preflight: boolean) => readonly HeaderPair[] | number | null;

/** Analyses a server that responds in this way to each origin, by GET and preflight; a number is a bare status. */
function judge(server: Server) {
  const exchanges = probeOrigins(TARGET, GIVEN).flatMap(({ kind, origin }) =>
    [false, true].map((preflight): CorsExchange => {
      const answer = server(origin, preflight);
      if (answer === null) return { kind, origin, preflight, answer: { answered: false, reason: "timeout" } };
      const [status, headers] = typeof answer === "number" ? [answer, []] : [preflight ? 204 : 200, answer];
      return { kind, origin, preflight, answer: { answered: true, status, headers } };
    }),
  );
  const base = server(null, false);
  return analyseCors(exchanges, Array.isArray(base) ? (base as readonly HeaderPair[]) : []);
}

function findings(server: Server): string[] {
  return judge(server).findings.map(({ id, risk }) => `${id} ${risk}`);
}

function allowing(test: (origin: string) => boolean, ...more: readonly HeaderPair[]): Server {
  return (origin) =>
    origin !== null && test(origin) ? [[ACAO, origin], ["Vary", "Accept, origin"], ...more] : [["Vary", "Origin"]];
}

describe("the tested origins", () => {
  it("are those that careless comparisons allow", () => {
    expect(probeOrigins(TARGET, GIVEN).map(({ kind, origin }) => `${kind} ${origin}`)).toEqual([
      "given https://app.example.net",
      "foreign https://evil.example",
      "null null",
      "prefix https://www.example.co.uk.evil.example",
      "suffix https://evilexample.co.uk",
      "unescaped_dot https://wwwxexample.co.uk",
      "subdomain https://vantage-probe.example.co.uk",
      "http_downgrade http://www.example.co.uk",
    ]);
  });

  it("are few for addresses, have no repeats, and have no downgrade from http", () => {
    const kinds = (url: string, given = GIVEN) => probeOrigins(new URL(url), given).map(({ kind }) => kind);
    expect(kinds("https://192.0.2.1/")).toEqual(["given", "foreign", "null", "http_downgrade"]);
    expect(kinds("http://[2001:db8::1]/")).toEqual(["given", "foreign", "null"]);
    expect(kinds("http://example.com/", "null")).toEqual(["given", "foreign", "null", "prefix", "suffix", "subdomain"]);
    expect(kinds("http://192.0.2.1/", "https://evil.example")).toEqual(["given", "foreign", "null"]);
  });
});

describe("the CORS check (Fetch standard, section 4.10)", () => {
  const grant = (...headers: readonly HeaderPair[]) => corsGrant(readCorsHeaders(headers), GIVEN);
  it.each<[readonly HeaderPair[], string]>([
    [[], "none"],
    [allow("*"), "without_credentials"],
    [[...allow("*"), COOKIES], "without_credentials"],
    [allow(GIVEN), "without_credentials"],
    [[...allow(GIVEN), COOKIES], "with_credentials"],
    [[...allow(GIVEN), [ACAC, "True"]], "without_credentials"],
    [[...allow(GIVEN), COOKIES, COOKIES], "without_credentials"],
    [allow(`${GIVEN}/`), "none"],
    [allow("https://APP.example.net"), "none"],
    [allow(GIVEN, GIVEN), "none"],
    [allow(`${GIVEN} https://other.example`), "none"],
    [allow("null"), "none"],
    [[[ACAO.toLowerCase(), GIVEN]], "without_credentials"],
  ])("%j is %s", (headers, expected) => {
    expect(grant(...headers)).toBe(expected);
  });
});

describe("the preflight (Fetch standard, section 4.8)", () => {
  const ask = (status: number, method: string, ...more: readonly HeaderPair[]) =>
    preflightGrant(status, readCorsHeaders([...allow(GIVEN), COOKIES, ...more]), {
      origin: GIVEN,
      method,
      header: "content-type",
    });
  const METHODS = "Access-Control-Allow-Methods";
  const HEADERS = "Access-Control-Allow-Headers";
  it("needs a status of 200 to 299", () => {
    const named: HeaderPair = [HEADERS, "X-A, Content-Type"];
    expect([200, 204, 299].map((status) => ask(status, "POST", named))).toEqual(Array(3).fill("with_credentials"));
    expect([301, 304, 401, 404, 500].map((status) => ask(status, "POST", named))).toEqual(Array(5).fill("none"));
  });
  it("needs header and method to be listed, except safelisted methods; methods are case-sensitive", () => {
    expect(ask(204, "POST")).toBe("none");
    expect(ask(204, "PUT", [HEADERS, "content-type"])).toBe("none");
    expect(ask(204, "PUT", [HEADERS, "content-type"], [METHODS, "put"])).toBe("none");
    expect(ask(204, "PUT", [HEADERS, "content-type"], [METHODS, "GET, PUT"])).toBe("with_credentials");
  });
  it("reads * as all names, but not with credentials", () => {
    expect(ask(204, "PUT", [HEADERS, "*"], [METHODS, "*"])).toBe("without_credentials");
    expect(ask(204, "POST", [HEADERS, "*"])).toBe("without_credentials");
  });
});

describe("findings", () => {
  it("are none if only the right origin is allowed", () => {
    expect(judge(allowing((origin) => origin === GIVEN, COOKIES))).toMatchObject({
      risk: "none",
      findings: [],
      simpleAllowed: true,
      credentialedAllowed: true,
      preflightAllowed: false,
    });
    expect(judge(() => [])).toMatchObject({ risk: "none", findings: [], simpleAllowed: false });
  });

  const like = (pattern: RegExp) => (origin: string) => pattern.test(origin);
  it.each<[what: string, allowed: (origin: string) => boolean, withCookies: string[], without: string[]]>([
    [
      "everybody",
      () => true,
      ["reflects-any-origin critical", "null-allowed critical"],
      ["reflects-any-origin low", "null-allowed low"],
    ],
    ["null", (origin) => origin === "null", ["null-allowed critical"], ["null-allowed low"]],
    ["what begins alike", like(/^https:\/\/www\.example\.co\.uk/), ["prefix-match high"], ["prefix-match low"]],
    [
      "what ends alike",
      like(/^https:.*example\.co\.uk$/),
      ["suffix-match high", "unescaped-dot high", "any-subdomain-allowed low"],
      ["suffix-match low", "unescaped-dot low", "any-subdomain-allowed none"],
    ],
    ["a careless pattern", like(/^https:\/\/www.example\.co\.uk$/), ["unescaped-dot high"], ["unescaped-dot low"]],
    ["http too", like(/^https?:\/\/www\.example\.co\.uk$/), ["http-origin-allowed high"], ["http-origin-allowed low"]],
    [
      "subdomains",
      like(/^https:\/\/[^.]+\.example\.co\.uk$/),
      ["any-subdomain-allowed low"],
      ["any-subdomain-allowed none"],
    ],
  ])("report servers that allow %s", (_, allowed, withCookies, without) => {
    expect(findings(allowing(allowed, COOKIES))).toEqual(withCookies);
    expect(findings(allowing(allowed))).toEqual(without);
  });

  it("set the risk to that of the most severe finding", () => {
    expect(judge(allowing(() => true, COOKIES)).risk).toBe("critical");
    expect(judge(allowing((origin) => origin.includes("evil"), COOKIES)).risk).toBe("critical");
    expect(judge(allowing((origin) => origin.endsWith(".co.uk") && origin !== "http://www.example.co.uk")).risk).toBe(
      "low",
    );
    expect(judge(() => allow("*")).risk).toBe("none");
  });

  it("report a missing Vary if the response depends on the origin and can be stored", () => {
    const server =
      (...more: readonly HeaderPair[]): Server =>
      (origin) =>
        origin === GIVEN ? [...allow(origin), ...more] : more;
    expect(findings(server(["Vary", "Accept-Encoding"], ["Vary", "ORIGIN"]))).toEqual([]);
    expect(findings(server(["Vary", "*"]))).toEqual([]);
    expect(findings(server(["Cache-Control", "max-age=0, no-store"]))).toEqual([]);
    expect(findings((origin) => (origin === null ? [] : allow("*")))).toEqual(["wildcard none", "missing-vary low"]);
  });

  it("report a preflight that redirects, not one that fails", () => {
    const probes = judge((_, preflight) => (preflight ? 302 : [])).probes;
    expect(probes[1]).toMatchObject({ method: "OPTIONS", code: 302, verdict: "redirected" });
    expect(findings((_, preflight) => (preflight ? 404 : []))).toEqual([]);
  });
});

it("knows nothing without responses or if the target limits requests", () => {
  for (const [server, verdict] of [
    [() => null, "failed"],
    [() => 429, "rate_limited"],
  ] as const) {
    const report = judge(server);
    expect(report).toMatchObject({ risk: "none", simpleAllowed: null, preflightAllowed: null, simple: null });
    expect(new Set(report.probes.map((probe) => probe.verdict))).toEqual(new Set([verdict]));
  }
});

it("reads hostile headers quickly and truncates them", () => {
  const long = "x,".repeat(50_000);
  const report = judge(() => [
    [ACAO, " ".repeat(100_000) + long],
    ["Vary", long],
    ["Access-Control-Allow-Headers", long],
    [ACAC, long],
  ]);
  expect(report.probes[0]?.acao?.length).toBe(512);
  expect(report.preflight?.allowHeaders?.length).toBe(200);
});

describe("findings of the tool", () => {
  const echo = (...more: readonly HeaderPair[]) => allowing(() => true, ...more);
  const described = (server: Server) => describeCorsFindings(judge(server).findings);

  it("an origin allowed with cookies is critical, or a warning if an attack needs more than a site; else info", () => {
    const openings = Object.entries(CORS_ADVICE).filter(([, advice]) => advice.withCredentials !== undefined);
    expect(openings.map(([id, { severity, withCredentials }]) => `${id} ${severity} ${withCredentials}`)).toEqual([
      "reflects-any-origin info critical",
      "null-allowed info critical",
      "prefix-match info critical",
      "suffix-match info critical",
      "unescaped-dot info critical",
      "any-subdomain-allowed info warning",
      "http-origin-allowed info warning",
    ]);
    expect(described(echo(COOKIES))[0]).toEqual({
      id: "reflects-any-origin",
      severity: "critical",
      message: "The server allows every origin: https://evil.example can read the response with the visitor's cookies.",
      how: "Allow only origins that equal an entry of a list of full origins. Send no Access-Control-Allow-Origin to others.",
      reference: "https://developer.mozilla.org/en-US/docs/Web/HTTP/Guides/CORS",
      where: "https://evil.example",
    });
    expect(described(echo()).map(({ severity }) => severity)).toEqual(["info", "info"]);
  });

  const own: Server = (origin) => (origin === GIVEN ? allow(origin) : []);
  it.each<[id: string, risk: string, severity: string, how: string | null, Server]>([
    ["wildcard", "none", "info", null, () => allow("*")],
    ["wildcard-with-credentials", "low", "warning", "instead of *", () => [...allow("*"), COOKIES]],
    ["missing-vary", "low", "warning", "Vary: Origin", own],
    // Browsers block these.
    ["multiple-allow-origin", "none", "warning", "one Access-Control-Allow-Origin line", () => allow(GIVEN, GIVEN)],
    ["allow-origin-list", "none", "warning", "not send a list", () => allow(`${GIVEN}, https://b.example`)],
    ["allow-origin-list", "none", "warning", "not send a list", () => allow(`${GIVEN} https://b.example`)],
    ["allow-origin-not-exact", "none", "warning", "exactly", () => allow(`${GIVEN}/`)],
    ["allow-origin-not-exact", "none", "warning", "exactly", () => allow("HTTPS://App.Example.net")],
    ["allow-origin-not-exact", "none", "warning", "exactly", () => allow(`${GIVEN}:443`)],
    ["allow-credentials-invalid", "none", "warning", `${ACAC}: true`, () => [...allow("*"), [ACAC, "TRUE"]]],
    ["preflight-redirect", "none", "info", "204", (_, preflight) => (preflight ? 302 : [])],
  ])("%s is the only one, of risk %s and severity %s", (id, risk, severity, how, server) => {
    const others = findings(server).filter((one) => id === "wildcard" || one !== "wildcard none");
    expect(others).toEqual([`${id} ${risk}`]);
    const found = described(server);
    expectWellFormed(fitFindings(found).findings);
    const one = found.find((finding) => finding.id === id);
    expect(one).toMatchObject({ severity });
    if (how === null) expect(one?.how).toBeNull();
    else expect(one?.how).toContain(how);
  });

  it("a preflight that fails by its status although it allows the origin is a warning", () => {
    const answer = { answered: true, status: 401, headers: allow(GIVEN) } as const;
    const exchange: CorsExchange = { kind: "given", origin: GIVEN, preflight: true, answer };
    expect(describeCorsFindings(analyseCors([exchange], []).findings)).toEqual([
      expect.objectContaining({ id: "preflight-status", severity: "warning", how: expect.stringContaining("204") }),
    ]);
  });
});
