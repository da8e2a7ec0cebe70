import { describe, expect, it } from "vitest";
import { analyseCors } from "#probe-agent/analysis/web/cors.ts";
import { corsGrant, preflightGrant, readCorsHeaders } from "#probe-agent/analysis/web/cors/check.ts";
import type { CorsExchange } from "#probe-agent/analysis/web/cors/exchange.ts";
import { probeOrigins } from "#probe-agent/analysis/web/cors/origins.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

const TARGET = new URL("https://www.example.co.uk/api");
const GIVEN = "https://app.example.net";
const ACAO = "Access-Control-Allow-Origin";
const ACAC = "Access-Control-Allow-Credentials";

type Server = (origin: string | null, preflight: boolean) => readonly HeaderPair[] | number | null;

/** What a server that answers so is worth: each origin by GET and preflight; a number is a bare status. */
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
  return judge(server).findings.map(({ id, severity }) => `${id} ${severity}`);
}

function allowing(test: (origin: string) => boolean, ...more: readonly HeaderPair[]): Server {
  return (origin) =>
    origin !== null && test(origin) ? [[ACAO, origin], ["Vary", "Accept, origin"], ...more] : [["Vary", "Origin"]];
}

describe("the origins asked with", () => {
  it("try what careless comparisons let in", () => {
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

  it("are few for addresses, none twice, and none downgraded from http", () => {
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
    [[[ACAO, "*"]], "without_credentials"],
    [
      [
        [ACAO, "*"],
        [ACAC, "true"],
      ],
      "without_credentials",
    ],
    [[[ACAO, GIVEN]], "without_credentials"],
    [
      [
        [ACAO, GIVEN],
        [ACAC, "true"],
      ],
      "with_credentials",
    ],
    [
      [
        [ACAO, GIVEN],
        [ACAC, "True"],
      ],
      "without_credentials",
    ],
    [
      [
        [ACAO, GIVEN],
        [ACAC, "true"],
        [ACAC, "true"],
      ],
      "without_credentials",
    ],
    [[[ACAO, `${GIVEN}/`]], "none"],
    [[[ACAO, "https://APP.example.net"]], "none"],
    [
      [
        [ACAO, GIVEN],
        [ACAO, GIVEN],
      ],
      "none",
    ],
    [[[ACAO, `${GIVEN} https://other.example`]], "none"],
    [[[ACAO, "null"]], "none"],
    [[[ACAO.toLowerCase(), GIVEN]], "without_credentials"],
  ])("%j is %s", (headers, expected) => {
    expect(grant(...headers)).toBe(expected);
  });
});

describe("the preflight (Fetch standard, section 4.8)", () => {
  const ask = (status: number, method: string, ...more: readonly HeaderPair[]) =>
    preflightGrant(status, readCorsHeaders([[ACAO, GIVEN], [ACAC, "true"], ...more]), {
      origin: GIVEN,
      method,
      header: "content-type",
    });
  const METHODS = "Access-Control-Allow-Methods";
  const HEADERS = "Access-Control-Allow-Headers";
  it("wants a status of 200 to 299", () => {
    const named: HeaderPair = [HEADERS, "X-A, Content-Type"];
    expect([200, 204, 299].map((status) => ask(status, "POST", named))).toEqual(Array(3).fill("with_credentials"));
    expect([301, 304, 401, 404, 500].map((status) => ask(status, "POST", named))).toEqual(Array(5).fill("none"));
  });
  it("wants header and method named, safelisted methods not, names of methods in their case", () => {
    expect(ask(204, "POST")).toBe("none");
    expect(ask(204, "PUT", [HEADERS, "content-type"])).toBe("none");
    expect(ask(204, "PUT", [HEADERS, "content-type"], [METHODS, "put"])).toBe("none");
    expect(ask(204, "PUT", [HEADERS, "content-type"], [METHODS, "GET, PUT"])).toBe("with_credentials");
  });
  it("takes * for all names, but not with credentials", () => {
    expect(ask(204, "PUT", [HEADERS, "*"], [METHODS, "*"])).toBe("without_credentials");
    expect(ask(204, "POST", [HEADERS, "*"])).toBe("without_credentials");
  });
});

describe("findings", () => {
  it("are none where only the right origin gets in", () => {
    expect(judge(allowing((origin) => origin === GIVEN, [ACAC, "true"]))).toMatchObject({
      risk: "none",
      findings: [],
      simpleAllowed: true,
      credentialedAllowed: true,
      preflightAllowed: false,
    });
    expect(judge(() => [])).toMatchObject({ risk: "none", findings: [], simpleAllowed: false });
  });

  it.each<[string, (origin: string) => boolean, readonly string[], readonly string[]]>([
    [
      "everybody",
      () => true,
      ["reflects_any_origin critical", "null_allowed critical"],
      ["reflects_any_origin low", "null_allowed low"],
    ],
    ["null", (origin) => origin === "null", ["null_allowed critical"], ["null_allowed low"]],
    [
      "what begins alike",
      (origin) => origin.startsWith("https://www.example.co.uk"),
      ["prefix_match high"],
      ["prefix_match low"],
    ],
    [
      "what ends alike",
      (origin) => origin.startsWith("https:") && origin.endsWith("example.co.uk"),
      ["suffix_match high", "unescaped_dot high", "any_subdomain_allowed low"],
      ["suffix_match low", "unescaped_dot low", "any_subdomain_allowed info"],
    ],
    [
      "a careless pattern",
      (origin) => /^https:\/\/www.example\.co\.uk$/.test(origin),
      ["unescaped_dot high"],
      ["unescaped_dot low"],
    ],
    [
      "http too",
      (origin) => /^https?:\/\/www\.example\.co\.uk$/.test(origin),
      ["http_origin_allowed high"],
      ["http_origin_allowed low"],
    ],
    [
      "subdomains",
      (origin) => /^https:\/\/[^.]+\.example\.co\.uk$/.test(origin),
      ["any_subdomain_allowed low"],
      ["any_subdomain_allowed info"],
    ],
  ])("name servers that let in %s", (_, test, withCredentials, without) => {
    expect(findings(allowing(test, [ACAC, "true"]))).toEqual(withCredentials);
    expect(findings(allowing(test))).toEqual(without);
  });

  it("take the gravest for the risk", () => {
    expect(judge(allowing(() => true, [ACAC, "true"])).risk).toBe("critical");
    expect(judge(allowing((origin) => origin.includes("evil"), [ACAC, "true"])).risk).toBe("critical");
    expect(judge(allowing((origin) => origin.endsWith(".co.uk") && origin !== "http://www.example.co.uk")).risk).toBe(
      "low",
    );
    expect(judge(() => [[ACAO, "*"]]).risk).toBe("none");
  });

  it("tell a wildcard, and one that credentials make void", () => {
    expect(findings(() => [[ACAO, "*"]])).toEqual(["wildcard info"]);
    expect(
      findings(() => [
        [ACAO, "*"],
        [ACAC, "true"],
      ]),
    ).toEqual(["wildcard_with_credentials low"]);
  });

  it("tell a missing Vary where the answer depends on the origin and may be stored", () => {
    const server =
      (...more: readonly HeaderPair[]): Server =>
      (origin) =>
        origin === GIVEN ? [[ACAO, origin], ...more] : more;
    expect(findings(server())).toEqual(["missing_vary low"]);
    expect(findings(server(["Vary", "Accept-Encoding"], ["Vary", "ORIGIN"]))).toEqual([]);
    expect(findings(server(["Vary", "*"]))).toEqual([]);
    expect(findings(server(["Cache-Control", "max-age=0, no-store"]))).toEqual([]);
    expect(findings((origin) => (origin === null ? [] : [[ACAO, "*"]]))).toEqual(["wildcard info", "missing_vary low"]);
  });

  it.each<[string, Server]>([
    [
      "multiple_allow_origin",
      () => [
        [ACAO, GIVEN],
        [ACAO, "https://b.example"],
      ],
    ],
    ["allow_origin_list", () => [[ACAO, `${GIVEN}, https://b.example`]]],
    ["allow_origin_list", () => [[ACAO, `${GIVEN} https://b.example`]]],
    ["allow_origin_not_exact", () => [[ACAO, `${GIVEN}/`]]],
    ["allow_origin_not_exact", () => [[ACAO, "HTTPS://App.Example.net"]]],
    ["allow_origin_not_exact", () => [[ACAO, `${GIVEN}:443`]]],
    [
      "allow_credentials_invalid",
      () => [
        [ACAO, "*"],
        [ACAC, "TRUE"],
      ],
    ],
  ])("tell %s, which browsers refuse", (id, server) => {
    const found = judge(server).findings.filter((finding) => finding.id !== "wildcard");
    expect(found.map((finding) => [finding.id, finding.severity])).toEqual([[id, "info"]]);
  });

  it("tell a preflight that redirects or fails", () => {
    expect(findings((_, preflight) => (preflight ? 302 : []))).toEqual(["preflight_redirect info"]);
    const probes = judge((_, preflight) => (preflight ? 302 : [])).probes;
    expect(probes[1]).toMatchObject({ method: "OPTIONS", code: 302, verdict: "redirected" });
    expect(findings((_, preflight) => (preflight ? 404 : []))).toEqual([]);
  });
});

it("knows nothing where nobody answers or the target limits", () => {
  for (const [server, verdict] of [
    [() => null, "failed"],
    [() => 429, "rate_limited"],
  ] as const) {
    const report = judge(server);
    expect(report).toMatchObject({ risk: "none", simpleAllowed: null, preflightAllowed: null, simple: null });
    expect(new Set(report.probes.map((probe) => probe.verdict))).toEqual(new Set([verdict]));
  }
});

it("is quick with hostile headers and cuts them", () => {
  const long = "x,".repeat(50_000);
  const report = judge(() => [
    [ACAO, " ".repeat(100_000) + long],
    ["Vary", long],
    ["Access-Control-Allow-Headers", long],
    [ACAC, long],
  ]);
  expect(report.probes[0]?.acao?.length).toBe(512);
  expect(report.preflight?.allowHeaders?.length).toBe(200);
}, 5000);
