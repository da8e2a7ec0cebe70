import { describe, expect, it } from "vitest";
import { readModules } from "#shared/blackbox/read-modules.ts";
import type { HttpOptions, Module } from "#shared/blackbox/module.ts";

function read(text: string): ReadonlyMap<string, Module> {
  const result = readModules(text, () => null);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.modules;
}

/** Reads the options of one module of the prober http. */
function http(options: object): HttpOptions {
  const module = read(JSON.stringify({ modules: { m: { prober: "http", http: options } } })).get("m");
  if (module?.prober !== "http") throw new Error("no module of http");
  return module.options;
}

/** The faults of a text as `line:column message`. */
function faults(text: string, whyUnreadable: (file: string) => string | null = () => null): readonly string[] {
  const result = readModules(text, whyUnreadable);
  if (result.ok) return [];
  return result.problems.map(({ place, message }) => `${place?.line}:${place?.column} ${message}`);
}

describe("a file of modules", () => {
  it("has the exporter's defaults where it says nothing", () => {
    const modules = read(
      "modules:\n  web: {prober: http}\n  port: {prober: tcp}\n  echo: {prober: icmp, timeout: 1m30s}\n  health:\n    prober: grpc\n    grpc:\n",
    );
    expect(modules.get("web")).toMatchObject({
      timeoutMs: null,
      options: {
        method: "GET",
        preferred_ip_protocol: "ip6",
        ip_protocol_fallback: true,
        follow_redirects: true,
        enable_http2: true,
      },
    });
    expect(modules.get("port")).toMatchObject({ options: { tls: false, query_response: [], source_ip_address: null } });
    expect(modules.get("echo")).toMatchObject({ timeoutMs: 90_000, options: { ttl: 64, payload_size: 0 } });
    expect(modules.get("health")).toMatchObject({ options: { service: "", tls: false } });
  });

  it("can be empty, or take over a map with an anchor", () => {
    expect(read("").size).toBe(0);
    expect(read("modules:").size).toBe(0);
    const modules = read(
      "modules:\n  a: &a\n    prober: http\n    timeout: 5s\n  b:\n    <<: *a\n    http: {method: HEAD}\n",
    );
    expect(modules.get("b")).toMatchObject({ prober: "http", timeoutMs: 5000, options: { method: "HEAD" } });
  });

  it("takes numbers and truth values for texts, digit for digit", () => {
    const options = http({
      headers: { "X-Number": 12_345, "X-Flag": true },
      basic_auth: { username: "u", password: 123 },
    });
    expect(options.headers).toEqual({ "X-Number": "12345", "X-Flag": "true" });
    expect(options.basic_auth?.password).toEqual({ text: "123" });
    const long = read("modules: {m: {prober: http, http: {bearer_token: 12345678901234567890123}}}").get("m");
    expect(long).toMatchObject({ options: { authorization: { credentials: { text: "12345678901234567890123" } } } });
  });

  it("has a bearer token in three spellings", () => {
    const expected = { type: "Bearer", credentials: { text: "t" } };
    expect(http({ bearer_token: "t" }).authorization).toEqual(expected);
    expect(http({ authorization: { credentials: "t" } }).authorization).toEqual(expected);
    expect(http({ bearer_token_file: "/t" }).authorization).toEqual({ type: "Bearer", credentials: { file: "/t" } });
  });

  it.each([
    ["10MB", 10 * 1024 * 1024],
    ["1KiB", 1024],
    ["1.5KB", 1536],
    ["100B", 100],
    [0, 0],
  ])("has the body_size_limit %s: %d octets", (size, octets) => {
    expect(http({ body_size_limit: size }).body_size_limit).toBe(octets);
  });

  it("keeps the old name of follow_redirects", () => {
    expect(http({ no_follow_redirects: true }).follow_redirects).toBe(false);
    expect(http({ no_follow_redirects: false }).follow_redirects).toBe(true);
  });

  it("of 10,000 modules is read", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `  m${index}: {prober: icmp, timeout: ${index + 1}ms}\n`);
    expect(read(`modules:\n${many.join("")}`).get("m9999")).toMatchObject({ timeoutMs: 10_000 });
  });
});

describe("a fault", () => {
  it("is named with its place, and what to do", () => {
    const text = [
      "modules:",
      "  a:",
      "    prober: htp",
      "    timeout: 5",
      "    http:",
      "      valid_status_code: [200]",
      "      fail_if_body_matches_regexp: ['(a']",
      "  b:",
      "    prober: dns",
      "    dns: {query_type: A}",
      "  c: {prober: http, http: {fail_if_body_json_matches_cel: 'x'}}",
    ].join("\n");
    expect(faults(text)).toEqual([
      "4:5 a.timeout must be a duration with its unit, such as 5s",
      "6:7 a.http.valid_status_code is no option: did you mean valid_status_codes?",
      expect.stringMatching(
        /^7:37 a\.http\.fail_if_body_matches_regexp\[0\] is no regular expression of RE2.*missing closing \)/,
      ),
      '3:5 a.prober has the prober "htp", which is not supported: use one of http, tcp, dns, icmp, grpc',
      "10:5 b.dns needs a query_name",
      "11:28 c.http.fail_if_body_json_matches_cel is not supported: use fail_if_body_matches_regexp or fail_if_body_not_matches_regexp",
    ]);
  });

  it.each([
    [{ preferred_ip_protocol: "ipv4" }, "preferred_ip_protocol must be ip6 or ip4"],
    [{ tls_config: { cert_file: "/c" } }, "tls_config needs both of cert_file and key_file, or none"],
    [
      { tls_config: { min_version: "TLS13", max_version: "TLS12" } },
      "tls_config has a min_version above its max_version",
    ],
    [
      { basic_auth: { username: "u" }, bearer_token: "t" },
      "must have at most one of basic_auth, authorization, bearer_token and oauth2",
    ],
    [{ authorization: { type: "Basic" } }, "authorization must not have the type basic: use basic_auth"],
    [{ oauth2: { client_id: "c" } }, "oauth2 needs a token_url"],
    [{ body: "a", body_file: "/b" }, "has both body and body_file: keep one of them"],
    [{ compression: "gzip", headers: { "Accept-Encoding": "br, gzip;q=0" } }, "does not accept the compression gzip"],
    [{ headers: { "A b": "c" } }, "is no name of a header field"],
    [{ headers: { a: "b\r\nc: d" } }, "must be one line without control characters"],
    [{ headers: { "Content-Length": "3" } }, "cannot be set, because it frames the request: remove it"],
    [{ proxy_url: "socks5://a" }, "proxy_url must be an http:// or https:// URL"],
    [{ no_proxy: "a" }, "has no_proxy, so it needs proxy_url"],
    [{ proxy_from_environment: true, proxy_url: "http://a" }, "must not have proxy_url or no_proxy"],
    [{ fail_if_header_matches: [{ header: "a" }] }, "fail_if_header_matches[0] needs a regexp"],
    [{ valid_status_codes: ["2xx"] }, "valid_status_codes[0] must be a whole number from 100 to 999"],
    [{ method: "GE T" }, "method must be a method such as GET"],
    [{ unknown: 1 }, "m.http.unknown is no option: the options here are preferred_ip_protocol, "],
  ])("of http is found in %j", (options, message) => {
    expect(faults(JSON.stringify({ modules: { m: { prober: "http", http: options } } }))).toEqual([
      expect.stringContaining(message),
    ]);
  });

  it.each([
    [{ prober: "tcp", tcp: { source_ip_address: "eth0" } }, "must be an IPv4 or IPv6 address of this host"],
    [
      { prober: "tcp", tcp: { query_response: [{ send: "a", labels: [{ name: "x" }] }] } },
      "has labels, so it needs expect",
    ],
    [
      { prober: "tcp", tcp: { query_response: [{ expect: "a", labels: [{ name: "1x" }] }] } },
      "needs a name of letters",
    ],
    [{ prober: "icmp", icmp: { ttl: 256 } }, "ttl must be a whole number from 0 to 255"],
    [{ prober: "dns", dns: { query_name: "a..b" } }, "query_name must be a DNS name"],
    [{ prober: "dns", dns: { query_name: "a", query_type: "FOO" } }, "query_type must be a type such as A"],
    [
      { prober: "dns", dns: { query_name: "a", valid_rcodes: ["NOPE"] } },
      "valid_rcodes[0] must be an RCODE such as NXDOMAIN",
    ],
    [
      { prober: "dns", dns: { query_name: "a", dns_over_tls: true } },
      "has dns_over_tls, so it needs transport_protocol: tcp",
    ],
    [{ prober: "unix", unix: {} }, "is not supported"],
    [{}, "m needs a prober: use one of http, tcp, dns, icmp, grpc"],
    [[], "m must be options with values"],
  ])("of a module is found in %j", (module, message) => {
    expect(faults(JSON.stringify({ modules: { m: module } }))[0]).toContain(message);
  });

  it("of a file that is named is found before the first probe", () => {
    const missing = (file: string) => (file === "/missing" ? "there is no such file" : null);
    const text = "modules:\n  m:\n    prober: http\n    http:\n      bearer_token_file: /missing\n";
    expect(faults(text, missing)).toEqual([
      "5:7 m.http.bearer_token_file must be the path of a file that can be read: there is no such file",
    ]);
  });

  it("of the text ends the reading: no YAML, a name twice, aliases without end, a file of another kind", () => {
    expect(faults("modules: [")).not.toEqual([]);
    expect(faults("modules:\n  a: {prober: http}\n  a: {prober: tcp}\n")[0]).toContain("unique");
    expect(faults("a: &a [*a]")[0]).toContain("is inside of what &a names");
    expect(faults("scrape_configs: []")[0]).toContain("scrape_configs is no option: the options here are modules");
    expect(faults("- a")[0]).toContain("must be options with values");
  });

  it("never quotes a secret", () => {
    const secret = "hunter2hunter2";
    const options = {
      basic_auth: { password: [secret], pasword: secret },
      bearer_token: { [`x${secret}`.slice(0, 1)]: secret },
    };
    expect(faults(JSON.stringify({ modules: { m: { prober: "http", http: options } } })).join("\n")).not.toContain(
      secret,
    );
  });
});

it("secrets are masked where the file is shown, and nothing else", () => {
  const secret = "hunter2";
  const written = {
    modules: {
      m: {
        prober: "http",
        http: {
          headers: { Authorization: secret, Cookie: secret, Accept: "text/html" },
          basic_auth: { username: "u", password: secret },
          proxy_url: `http://user:${secret}@proxy.example:3128`,
          proxy_connect_header: { "X-Token": [secret] },
          tls_config: { cert: "public", key: secret },
        },
      },
      o: {
        prober: "http",
        http: { oauth2: { client_id: "c", client_secret: secret, token_url: "https://t.example" } },
      },
    },
  };
  const result = readModules(JSON.stringify(written), () => null);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  expect(JSON.stringify(result.masked)).not.toContain(secret);
  expect(result.masked).toMatchObject({
    modules: {
      m: {
        http: {
          headers: { Accept: "text/html", Cookie: "<secret>" },
          proxy_url: "http://user:<secret>@proxy.example:3128",
        },
      },
      o: { http: { oauth2: { client_id: "c", client_secret: "<secret>", token_url: "https://t.example" } } },
    },
  });
});
