import { kumaMonitor, type KumaMonitor } from "#test/shared/client/uptime-kuma/backup.ts";
import { seeded } from "#test/support/seeded.ts";

/** Types of monitors, and names that every object has. */
const TYPES =
  "http keyword json-query port ping dns push grpc-keyword websocket-upgrade smtp group docker __proto__ constructor".split(
    " ",
  );

/** Values of wrong types, beyond every limit, and with characters that change what a reader sees. */
export const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  3.7,
  1e308,
  -1e308,
  65_536,
  "",
  " ",
  "x",
  "0",
  "true",
  "****",
  "\u0000",
  "a\nb",
  "\u001b[2J",
  "\u202egnp.exe",
  "\ud800",
  "\udc00a",
  "\u2028\u2029\u0085\ufeff",
  "\u3164\u115f\uffa0",
  "😀".repeat(150),
  "ä".repeat(300),
  "x".repeat(70_000),
  "managed:shop",
  "Managed:Shop",
  "__proto__",
  "constructor",
  "toString",
  "# no comment",
  "- a: {b: [",
  "*alias",
  "&anchor",
  "<<",
  "!!js/function",
  "yes",
  "1e3",
  "{env: PATH}",
  "${PATH}",
  "https://example.com",
  "HTTPS://EXAMPLE.com:8443/?a=b#c",
  "https://user:pass@example.com/",
  "https://%zz:%@example.com/",
  "https://example.com:25/",
  "https://[::1]/",
  "https://\\example.com",
  "http://nas.local",
  "javascript:alert(1)",
  "wss://example.com/socket",
  "example.com",
  "example.com:443",
  "[2001:4860:4860::8888]:53",
  "2001:4860:4860::8888",
  "8.8.8.8",
  "127.0.0.1",
  "*.example.com",
  "münchen.example.com",
  "a.b[0].`c d`",
  "$.a[-1]",
  "`\u0000'\\`",
  "$sum(a)",
  "A",
  "MX",
  "PTR",
  "TXT",
  "POST",
  "head",
  "PUT",
  "json",
  "basic",
  "oauth2-cc",
  "==",
  ">",
  "contains",
  "graphql-ws",
  "starttls",
  [],
  {},
  [[]],
  [null, 7, {}],
  ["200", "100-999", "299-200", "1-2-3", 404, "000", "999"],
  Array.from({ length: 40 }, (_, code) => String(200 + code)),
  '{"X-A": "b", "x-a": "c", "Host": "h", "__proto__": "p", "X-N": 7, "X-O": {"a": 1}, "X-B": "a\\nb", "X-C": "ä", "": "e"}',
  '{"Authorization": "Bearer x", "Content-Type": "a/b"}',
  JSON.stringify(Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`X-${at}`, `v${at}`]))),
  '{"__proto__": {"a": 1}}',
  "[1]",
  "[".repeat(10_000),
  [{ type: "expression", variable: "record", operator: "equals", value: "192.0.2.1", andOr: "and" }],
  [{ type: "expression", variable: "record", operator: "contains", value: "v=spf1\u0000", andOr: "and" }],
  [{ type: "expression", variable: "record", operator: "equals", value: "a b", andOr: "and" }],
  [{ type: "expression", variable: "record", operator: "contains", value: "x".repeat(5_000), andOr: "and" }],
  ...["2001:db8::1", "fe80::1%eth0", "a..b", "mail.example.com.", "1.2.3", "v=spf1 -all"].map((value) => [
    { type: "expression", variable: "record", operator: value.startsWith("v") ? "contains" : "equals", value },
  ]),
  [{ type: "group", children: [] }],
  [{ name: "Team", value: "web" }, { name: "\u202e" }, { name: 7, value: [] }, "tag", { name: "x".repeat(90) }],
  Array.from({ length: 40 }, (_, at) => ({ name: `t${at}` })),
];

/** Fields of a monitor that a conversion reads, by the types that have them. A colon separates a type of records. */
const READ_BY: Readonly<Record<string, string>> = {
  "http push": "id name description parent active interval maxretries retryInterval resendInterval upsideDown tags",
  "http keyword json-query": "method",
  http:
    "timeout headers body httpBodyEncoding authMethod basic_auth_user basic_auth_pass accepted_statuscodes maxredirects " +
    "ignoreTls domainExpiryNotification proxyId cacheBust",
  "http websocket-upgrade": "url",
  keyword: "keyword invertKeyword",
  "json-query": "jsonPath jsonPathOperator expectedValue",
  "port ping dns smtp": "hostname port",
  "port ping": "expiryNotification packetSize",
  "dns:A dns:AAAA dns:CNAME dns:NS dns:PTR dns:TXT dns:MX": "conditions",
  dns: "dns_resolve_type dns_resolve_server",
  "grpc-keyword": "grpcUrl grpcProtobuf grpcMethod grpcServiceName grpcEnableTls grpcBody grpcMetadata",
  "websocket-upgrade": "wsSubprotocol",
  smtp: "smtpSecurity",
};

/** Each field with the types that have it. */
export const FIELDS = Object.entries(READ_BY).flatMap(([types, fields]) =>
  fields.split(" ").map((field) => ({ field, types: types.split(" ") })),
);

/** Returns a monitor of a type that is valid but for the fields of `over`, so that all of them are read. */
export function hostileMonitor(typed: string, over: KumaMonitor): KumaMonitor {
  const [type = "", records = "A"] = typed.split(":");
  const valid = {
    url: type === "websocket-upgrade" ? "wss://example.com/" : "https://example.com/",
    hostname: "example.com",
    port: 443,
    keyword: "Welcome",
    method: "POST",
    grpcUrl: "example.com:443",
    grpcServiceName: "grpc.health.v1.Health",
    grpcMethod: "Check",
    jsonPath: "status",
    jsonPathOperator: "==",
    expectedValue: "7",
    dns_resolve_type: records,
  };
  return { ...kumaMonitor(1, type, "Shop", valid), ...over };
}

/**
 * Returns the JSON of a backup with monitors in which some fields have wrong or hostile values; some are no objects, and
 * some have a key `__proto__`.
 */
export function hostileBackup(seed: number, count: number): string {
  const next = seeded(seed);
  const any = <T>(items: readonly T[]): T | undefined => items[next() % items.length];
  const monitors = Array.from({ length: count }, (_, at) => {
    if (next() % 30 === 0) return JSON.stringify(any(VALUES));
    const over = Array.from({ length: next() % 8 }, () => [any(FIELDS)?.field, any(VALUES)] as const);
    const name = any(["Shop", "Shop (2)", `m${at}`]);
    const monitor = hostileMonitor(any(TYPES) ?? "", { id: at % 50, name, ...Object.fromEntries(over) });
    const text = JSON.stringify(monitor);
    return next() % 10 === 0 ? text.replace("{", '{"__proto__": {"name": "polluted", "url": 7}, ') : text;
  });
  return `{"version": "\\u001b[31m1.23", "monitorList": [${monitors.join(",")}], "proxyList": {"a": 1}}`;
}
