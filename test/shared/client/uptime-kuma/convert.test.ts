import { describe, expect, it } from "vitest";
import type { ConvertOptions } from "#shared/client/uptime-kuma/context.ts";
import { convertBackup } from "#shared/client/uptime-kuma/convert.ts";
import { kumaMonitor, TIMEOUT, type KumaMonitor } from "#test/shared/client/uptime-kuma/backup.ts";

const OPTIONS: ConvertOptions = { includeSecrets: false, includePrivate: false, shortestIntervalMinutes: 1 };

/** The rows and lines of some monitors, without the last line, which has the counts. */
function convert(monitors: readonly KumaMonitor[], over: Partial<ConvertOptions> = {}) {
  const { document, lines, variables } = convertBackup({ version: "", monitors, others: [] }, { ...OPTIONS, ...over });
  return { rows: document.monitors, lines: lines.slice(0, -1), variables };
}

/** The only row of a monitor, and its lines without its name. */
function convertOne(type: string, over: KumaMonitor, options: Partial<ConvertOptions> = {}) {
  const { rows, lines } = convert([kumaMonitor(1, type, "A", over)], options);
  return { row: rows[0], lines: lines.map((line) => line.replace(/^A: /, "")) };
}

const URL_OF = { url: "https://example.com" };

describe("a web site", () => {
  it.each([
    [["200-299"], ["200-299"], []],
    [["200", "301", "500-599"], [200, 301, "500-599"], []],
    [["200-200"], [200], []],
    [["100-999"], ["100-599"], ["accepted_statuscodes changed: 100-999 is 100-599"]],
    [["abc", "200"], [200], ['accepted_statuscodes left out: "abc" is no code of 100 to 599']],
    [["999"], ["200-299"], ['accepted_statuscodes left out: "999" is no code of 100 to 599']],
    [[], ["200-299"], []],
    [null, ["200-299"], []],
  ])("accepts the codes %j as %j", (given, codes, lines) => {
    const found = convertOne("http", { ...URL_OF, accepted_statuscodes: given });
    expect(found.row).toMatchObject({ expected_codes: codes });
    expect(found.lines).toEqual(lines);
  });

  it.each([
    [{ interval: 60, [TIMEOUT]: 48 }, 30, []],
    [{ interval: 20, [TIMEOUT]: 16 }, 16, []],
    [{ interval: 20, [TIMEOUT]: 2.5 }, 3, []],
    [{ interval: 20, [TIMEOUT]: 0 }, 16, []],
    [{ interval: 60, [TIMEOUT]: 45 }, 30, ["timeout changed: 45 s is 30 s, the longest"]],
  ])("with %j has the timeout %i", (over, seconds, lines) => {
    const found = convertOne("http", { ...URL_OF, ...over });
    expect(found.row).toMatchObject({ timeout_seconds: seconds });
    expect(found.lines.filter((line) => line.startsWith("timeout"))).toEqual(lines);
  });

  it.each([
    [20, 1, ["interval changed: 20 s is 1 min"]],
    [60, 1, []],
    [61, 2, ["interval changed: 61 s is 2 min"]],
    [86_400, 1_440, []],
    [200_000, 1_440, ["interval changed: 200000 s is 1440 min"]],
  ])("with an interval of %i s is checked every %i min", (interval, minutes, lines) => {
    const found = convertOne("http", { ...URL_OF, interval, [TIMEOUT]: 10 });
    expect(found.row).toMatchObject({ interval_minutes: minutes });
    expect(found.lines).toEqual(lines);
  });

  it("has no method that the service does not send, and no way to log in that it does not know", () => {
    expect(convertOne("http", { ...URL_OF, method: "put" })).toEqual({
      row: undefined,
      lines: ['not taken over: method "PUT" is not one of GET, HEAD, POST'],
    });
    for (const authMethod of ["ntlm", "oauth2-cc", "mtls"]) {
      const { lines } = convertOne("http", { ...URL_OF, authMethod });
      expect(lines).toEqual([`not taken over: there is no authentication by "${authMethod}"`]);
    }
  });

  it("sends a body with POST alone, with the type of its encoding", () => {
    const body = '{"a": 1}';
    expect(convertOne("http", { ...URL_OF, method: "POST", body }, { includeSecrets: true }).row).toMatchObject({
      body,
      request_headers: { "Content-Type": "application/json" },
    });
    const form = {
      ...URL_OF,
      method: "POST",
      body: "a=1",
      httpBodyEncoding: "form",
      headers: '{"content-type": "a/b"}',
    };
    expect(convertOne("http", form, { includeSecrets: true }).row).toMatchObject({
      body: "a=1",
      request_headers: { "content-type": "a/b" },
    });
    const { row, lines } = convertOne("http", { ...URL_OF, body });
    expect(row).not.toHaveProperty("body");
    expect(lines).toEqual(["body left out: only POST has one"]);
  });

  it("sends the credentials of its settings or its URL, unless a header is written in their place", () => {
    const secret = { includeSecrets: true };
    const basic = { authMethod: "basic", basic_auth_user: "user", basic_auth_pass: "päss" };
    const header = `Basic ${Buffer.from("user:päss").toString("base64")}`;
    const sent = (over: KumaMonitor) => convertOne("http", { ...URL_OF, ...over }, secret).row?.["request_headers"];
    expect(sent(basic)).toEqual({ Authorization: header });
    expect(sent({ basic_auth_user: "user", basic_auth_pass: "päss" })).toEqual({ Authorization: header });
    expect(sent({ url: "https://user:p%C3%A4ss@example.com/" })).toEqual({ Authorization: header });
    expect(sent({ ...basic, headers: '{"authorization": "Bearer x"}' })).toEqual({ authorization: "Bearer x" });
    const { row } = convertOne("http", { url: "https://user:p%C3%A4ss@example.com/a?b" }, secret);
    expect(row).toMatchObject({ url: "https://example.com/a?b" });
  });

  it.each([
    ["[1]", "headers left out: they are no object"],
    ["{", "headers left out: it is no JSON"],
    ['{"A": "b", "A": "c"}', "headers left out: an object has a name twice"],
    ['{"Host": "a"}', "request_headers.Host left out: the probe writes this field itself"],
    ['{"a b": "c"}', 'request_headers."a b" left out: it is no name of a header field'],
    ['{"A": "ä"}', "request_headers.A left out: its value has other characters than visible ASCII"],
    ['{"A": "****"}', "request_headers.A left out: its value is a mask"],
    ['{"Accept": "a", "accept": "b"}', "request_headers.accept left out: it is there twice"],
  ])("with the headers %s says: %s", (headers, line) => {
    expect(convertOne("http", { ...URL_OF, headers }).lines).toEqual([line]);
  });

  it("names variables so that they are not those of another program, and each one once", () => {
    const headers = '{"ACCESS_KEY": "a", "Access-Key": "b"}';
    const { rows, variables } = convert([
      kumaMonitor(1, "http", "AWS secret", { ...URL_OF, headers }),
      kumaMonitor(2, "http", "AWS SECRET", { ...URL_OF, headers }),
      kumaMonitor(3, "http", "商店", { ...URL_OF, headers: '{"Token": "c"}' }),
    ]);
    expect(rows.map((row) => row["request_headers"])).toEqual([
      { ACCESS_KEY: { env: "KUMA_AWS_SECRET_ACCESS_KEY" }, "Access-Key": { env: "KUMA_AWS_SECRET_ACCESS_KEY__2" } },
      { ACCESS_KEY: { env: "KUMA_AWS_SECRET_ACCESS_KEY__3" }, "Access-Key": { env: "KUMA_AWS_SECRET_ACCESS_KEY__4" } },
      { Token: { env: "KUMA_TOKEN" } },
    ]);
    expect(variables[4]).toEqual({ name: "KUMA_TOKEN", monitor: "商店", field: "request_headers.Token", hint: null });
  });

  it.each([
    ["http://localhost:3000", "--private takes it over"],
    ["https://10.0.0.1/", "--private takes it over"],
    ["https://example.com:25/", "no web site is checked at port 25"],
    ["https://", 'url "https://" is no http:// or https:// URL'],
    ["ftp://example.com", 'url "ftp://example.com" is no http:// or https:// URL'],
    ["ftp://user:secret@example.com", 'url "ftp://example.com/" is no http:// or https:// URL'],
  ])("%s is not taken over", (url, why) => {
    const { row, lines } = convertOne("http", { url });
    expect(row).toBeUndefined();
    expect(lines).toEqual([expect.stringContaining(why)]);
  });

  it("of a private network is taken over where that is wanted, but not at a port that is never asked", () => {
    expect(convertOne("http", { url: "http://nas:8080/" }, { includePrivate: true }).row).toMatchObject({
      url: "http://nas:8080/",
    });
    expect(convertOne("http", { url: "http://nas:25/" }, { includePrivate: true }).row).toBeUndefined();
  });

  it("is not taken over upside down", () => {
    expect(convertOne("http", { ...URL_OF, upsideDown: 1 }).lines).toEqual([
      "not taken over: there is no upside down mode",
    ]);
  });
});

describe("a JSON query", () => {
  const query = (jsonPath: string, expectedValue: string, jsonPathOperator?: string) =>
    convertOne("json-query", { ...URL_OF, jsonPath, expectedValue, jsonPathOperator });

  it.each([
    ["status", "$.status"],
    ["$.status", "$.status"],
    ["", "$"],
    ["$", "$"],
    ["data.items[0].state", "$.data.items[0].state"],
    ["items[-1]", "$.items[-1]"],
    ["`my key`.`it's`", "$['my key']['it\\'s']"],
    ["$[0].a", "$[0].a"],
  ])("%s is the path %s", (expression, path) => {
    expect(query(expression, "ok")).toMatchObject({ row: { json: { path, op: "equals", value: "ok" } }, lines: [] });
  });

  it.each([
    "$sum(a)",
    "a[b=1]",
    "a + b",
    "a-b",
    "$.a.",
    ".a",
    "a..b",
    "a.[0]",
    "true",
    "$$.a",
    "a b",
    "*",
    "a.*",
    "\u0000",
  ])("%s is more than a path: the status alone is checked", (expression) => {
    const { row, lines } = query(expression, "ok");
    expect(row).toMatchObject({ check_type: "http" });
    expect(row).not.toHaveProperty("json");
    expect(lines).toEqual([
      expect.stringContaining("is more than a path of names and indexes: only the status is checked"),
    ]);
  });

  it("compares with the number or truth value that a text is, and says so", () => {
    expect(query("a", "7")).toEqual({
      row: expect.objectContaining({ json: { path: "$.a", op: "equals", value: 7 } }) as unknown,
      lines: ['expectedValue changed: 7 is the number 7, not the text "7"'],
    });
    expect(query("a", "true").row).toMatchObject({ json: { value: true } });
    expect(JSON.stringify(query("a", "50000000014435121").row)).toContain('"value":50000000014435121');
    expect(query("a", "07").row).toMatchObject({ json: { value: "07" } });
    expect(query("a", "no", "!=")).toMatchObject({ row: { json: { op: "not_equals", value: "no" } }, lines: [] });
    expect(query("a", "1.5", ">")).toMatchObject({ row: { json: { op: "greater", value: 1.5 } }, lines: [] });
    expect(query("a", "x", "<").lines).toEqual(['json-query left out: "x" is no number: only the status is checked']);
    expect(query("a", "x", "contains").lines).toEqual([
      'json-query left out: there is no comparison "contains": only the status is checked',
    ]);
    expect(query("a", "x".repeat(1_001)).row).not.toHaveProperty("json");
  });
});

describe("other types", () => {
  it.each([
    [{ dns_resolve_type: "AAAA" }, { url: "example.com", dns: { type: "AAAA" } }, []],
    [{ dns_resolve_type: "PTR", hostname: "8.8.4.4" }, { url: "4.4.8.8.in-addr.arpa", dns: { type: "PTR" } }, []],
    [{ dns_resolve_server: "9.9.9.9" }, {}, ["dns_resolve_server left out: each probe asks its own resolvers"]],
    [
      { conditions: [{ type: "expression", variable: "record", operator: "equals", value: "192.0.2.1" }] },
      { dns: { type: "A", op: "contains", values: ["192.0.2.1"] } },
      [],
    ],
    [
      { conditions: [{ type: "expression", variable: "record", operator: "not_equals", value: "192.0.2.1" }] },
      { dns: { type: "A" } },
      ["conditions left out: they are not one of those that Vantage has: any A record is up"],
    ],
  ])("dns with %j", (over, row, lines) => {
    expect(convertOne("dns", { hostname: "example.com", port: 53, ...over })).toMatchObject({ row, lines });
  });

  it("a push waits for a ping as long as Uptime Kuma, with its retries", () => {
    expect(convertOne("push", { interval: 20, maxretries: 0 })).toMatchObject({
      row: { check_type: "heartbeat", heartbeat: { period_seconds: 30 } },
      lines: ["interval changed: 20 s is 30 s", expect.stringContaining("heartbeat_url")],
    });
    expect(convertOne("push", { interval: 600, maxretries: 3, retryInterval: 60, resendInterval: 6 }).row).toEqual({
      name: "A",
      check_type: "heartbeat",
      heartbeat: { period_seconds: 600, grace_seconds: 180 },
      repeat_minutes: 60,
    });
  });

  it.each([
    [
      "websocket-upgrade",
      { url: "wss://example.com/a", wsSubprotocol: "mqtt" },
      { websocket: { subprotocol: "mqtt" } },
    ],
    ["websocket-upgrade", { url: "wss://example.com/a", wsSubprotocol: "" }, { url: "wss://example.com/a" }],
    [
      "smtp",
      { hostname: "mail.example.com", port: 465, smtpSecurity: "secure" },
      { tcp: { preset: "smtp", tls: "implicit" } },
    ],
    ["smtp", { hostname: "mail.example.com", smtpSecurity: "starttls" }, { url: "mail.example.com:25" }],
    ["port", { hostname: "2001:4860:4860::8888", port: "53" }, { url: "2001:4860:4860::8888", port: 53 }],
  ])("%s with %j", (type, over, row) => {
    expect(convertOne(type, over)).toMatchObject({ row, lines: [] });
  });

  it.each([
    ["port", { hostname: "example.com", port: 0 }, "port is none of 1 to 65535"],
    ["ping", { hostname: "https://example.com" }, 'hostname "https://example.com" is no host name or address'],
    ["grpc-keyword", { grpcUrl: "example.com" }, '"example.com" is no host:port'],
    ["keyword", { ...URL_OF, keyword: "a\nb" }, "the keyword must be one line of 1 to 1000 characters"],
    ["dns", { hostname: "example.com", dns_resolve_type: "ANY" }, 'no records "ANY" are looked up'],
    ["constructor", {}, 'there is no check of the type "constructor"'],
  ])("%s with %j is not taken over", (type, over, why) => {
    expect(convertOne(type, over)).toEqual({ row: undefined, lines: [`not taken over: ${why}`] });
  });
});

describe("groups, tags and names", () => {
  it("a monitor has the tags of all groups around it, also if they are in a circle, and is paused with them", () => {
    const { rows } = convert([
      kumaMonitor(1, "group", "Outer", { parent: 2, active: 0 }),
      kumaMonitor(2, "group", "Inner", { parent: 1 }),
      kumaMonitor(3, "http", "A", { ...URL_OF, parent: 2 }),
    ]);
    expect(rows).toMatchObject([{ tags: ["group:inner", "group:outer"], is_active: false }]);
  });

  it("a tag has the characters that it can have, and is never one of an owner", () => {
    const tags = [
      { name: "Größe", value: "" },
      { name: "Managed", value: "shop" },
      { name: "team", value: "web" },
      { name: "生产", value: null },
      { name: "x".repeat(60) },
    ];
    const { row, lines } = convertOne("http", { ...URL_OF, tags });
    expect(row).toMatchObject({ tags: ["grosse", "managed-shop", "team:web", "x".repeat(50)] });
    expect(lines).toEqual([
      'tags changed: "Größe" is grosse',
      'tags changed: "Managed:shop" is managed-shop',
      'tags left out: "生产" has no letter or digit that a tag can have',
      expect.stringMatching(/^tags changed: "x{60}" is x{50}$/),
    ]);
  });

  it("each monitor has a name of its own, without characters that are not seen", () => {
    const names = ["A", "A", "A (2)", " \u202eB\u0000 ", "", "C".repeat(250), "C".repeat(250)];
    const { rows, lines } = convert(names.map((name, at) => kumaMonitor(at, "http", name, URL_OF)));
    expect(rows.map(({ name }) => name)).toEqual([
      "A",
      "A (2)",
      "A (2) (2)",
      "B",
      "monitor 4",
      `${"C".repeat(199)}…`,
      `${"C".repeat(196)} (2)`,
    ]);
    expect(lines).toHaveLength(6);
    expect(lines[0]).toBe('A (2): name changed: it is "A (2)"');
  });
});
