import { expect, test } from "vitest";
import { readSettings, SETTING_ROWS } from "#shared/settings/settings-parse.ts";
import type { Settings } from "#shared/settings/settings.ts";

function value<K extends keyof Settings>(key: K, environment: Record<string, string>): Settings[K] {
  const read = readSettings(environment, "agent");
  if (!read.ok) throw new Error(read.line);
  return read.settings[key];
}

function line(environment: Record<string, string>, process: "control-plane" | "agent" = "control-plane"): string {
  const read = readSettings(environment, process);
  return read.ok ? "accepted" : read.line;
}

test("an empty environment has every default", () => {
  expect(value("httpAddr", {})).toEqual({ host: "127.0.0.1", port: 8080 });
  expect(value("webhookRetrySchedule", {})).toEqual([
    0, 5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000,
  ]);
  expect(value("v1V2Sunset", {})).toEqual(new Date("2026-10-01T00:00:00Z"));
  expect(value("retentionMeasurements", {})).toBe(604_800_000);
  expect(value("masterKey", {})).toBeNull();
});

test("names are unique, and each row has the allowed values and the behaviour without a value", () => {
  expect(new Set(SETTING_ROWS.map((row) => row.name)).size).toBe(SETTING_ROWS.length);
  for (const row of SETTING_ROWS) {
    expect(row.kind.allowed, row.name).not.toBe("");
    expect(row.default === null ? row.absent : row.default, row.name).toBeTruthy();
    expect(row.name).toMatch(/^(VANTAGE_[A-Z0-9_]+|DATABASE_URL)$/);
  }
});

test("the log level is one of pino's, for both processes", () => {
  expect(value("logLevel", {})).toBe("info");
  expect(value("logLevel", { VANTAGE_LOG_LEVEL: "trace" })).toBe("trace");
  for (const process of ["control-plane", "agent"] as const) {
    expect(line({ VANTAGE_LOG_LEVEL: "verbose" }, process)).toBe(
      'VANTAGE_LOG_LEVEL must be fatal, error, warn, info, debug, trace, not "verbose"',
    );
  }
});

test("an empty or blank variable counts as unset", () => {
  expect(value("region", { VANTAGE_REGION: "" })).toBe("local");
  expect(value("city", { VANTAGE_CITY: "  " })).toBeNull();
});

test("a process accepts the settings of the other, and still rejects an invalid one", () => {
  expect(line({ VANTAGE_MAX_JOBS: "5" }, "control-plane")).toBe("accepted");
  expect(line({ VANTAGE_MAX_JOBS: "0" }, "control-plane")).toBe(
    'VANTAGE_MAX_JOBS must be a whole number from 1 to 100000, not "0"',
  );
});

test("an unknown variable stops the start with the name of the nearest setting", () => {
  expect(line({ VANTAGE_HTPT_ADDR: "x" })).toBe("VANTAGE_HTPT_ADDR is not a setting; did you mean VANTAGE_HTTP_ADDR?");
  expect(line({ VANTAGE_FOO_BAR_BAZ: "x" })).toMatch(/^VANTAGE_FOO_BAR_BAZ is not a setting; deploy\/vantage doctor/);
  expect(line({ ["VANTAGE_" + "A".repeat(100_000)]: "x" })).toContain("is not a setting");
  expect(line({ HOME: "/root", vantage_region: "x" })).toBe("accepted");
});

test("an unknown variable stops the start even if it is empty", () => {
  expect(line({ VANTAGE_REGOIN: "" })).toContain("VANTAGE_REGION");
});

const GOOD: readonly [keyof Settings, string, string, unknown][] = [
  ["httpAddr", "VANTAGE_HTTP_ADDR", "[::1]:80", { host: "::1", port: 80 }],
  ["httpAddr", "VANTAGE_HTTP_ADDR", "localhost:80", { host: "localhost", port: 80 }],
  ["metricsAddr", "VANTAGE_METRICS_ADDR", "off", "off"],
  ["metricsAddr", "VANTAGE_METRICS_ADDR", "0.0.0.0:0", { host: "0.0.0.0", port: 0 }],
  ["baseUrl", "VANTAGE_BASE_URL", "https://a.example/", "https://a.example"],
  ["baseUrl", "VANTAGE_BASE_URL", "https://a.example/tools/vantage-2/", "https://a.example/tools/vantage-2"],
  ["databaseUrl", "DATABASE_URL", "postgres://u:p@a:1,b:2/db", "postgres://u:p@a:1,b:2/db"],
  ["trustedProxies", "VANTAGE_TRUSTED_PROXIES", "10.0.0.0/8, 2001:DB8::1", ["10.0.0.0/8", "2001:db8::1/128"]],
  ["controlPlane", "VANTAGE_CONTROL_PLANE", "a.example:1,dns:///b:2,[::1]:3", ["a.example:1", "dns:///b:2", "[::1]:3"]],
  ["latlong", "VANTAGE_LATLONG", "-33.87, 151.21", { latitude: -33.87, longitude: 151.21 }],
  ["asn", "VANTAGE_ASN", "as64496", 64_496],
  ["country", "VANTAGE_COUNTRY", "nl", "NL"],
  ["tags", "VANTAGE_TAGS", "edge, eu-1", ["edge", "eu-1"]],
  [
    "dnsServers",
    "VANTAGE_DNS_SERVERS",
    "127.0.0.1:5353,::1",
    [
      { host: "127.0.0.1", port: 5353 },
      { host: "::1", port: 53 },
    ],
  ],
  ["allowNames", "VANTAGE_ALLOW_NAMES", ".Corp.Internal, localhost", ["corp.internal", "localhost"]],
  ["retentionChecks", "VANTAGE_RETENTION_CHECKS", "1.5h", 5_400_000],
  ["v1V2Sunset", "VANTAGE_V1_V2_SUNSET", "2028-02-29", new Date("2028-02-29T00:00:00Z")],
  ["v1V2Sunset", "VANTAGE_V1_V2_SUNSET", "2027-01-01T00:00:00+02:00", new Date("2026-12-31T22:00:00Z")],
  ["whoisServer", "VANTAGE_WHOIS_SERVER", "whois.example", { host: "whois.example", port: 43 }],
  ["mailFrom", "VANTAGE_MAIL_FROM", "Vantage <a@b.example>", "Vantage <a@b.example>"],
  ["resolvers", "VANTAGE_RESOLVERS", "./resolvers.json", { file: "./resolvers.json" }],
  ["signup", "VANTAGE_SIGNUP", "invite", "invite"],
  ["signUp", "VANTAGE_SIGN_UP", "open", "open"],
];

test.each(GOOD)("%s reads %s=%s", (key, name, text, expected) => {
  expect(value(key, { [name]: text })).toEqual(expected);
});

const BAD: readonly [string, string][] = [
  ["VANTAGE_BASE_URL", "https://a.example/a b"],
  ["VANTAGE_BASE_URL", "https://a.example/a%20b"],
  ["VANTAGE_BASE_URL", "https://a.example//a"],
  ["VANTAGE_BASE_URL", "https://a.example/a/../b"],
  ["VANTAGE_BASE_URL", "https://a.example/."],
  ["VANTAGE_HTTP_ADDR", "8080"],
  ["VANTAGE_HTTP_ADDR", ":8080"],
  ["VANTAGE_HTTP_ADDR", "127.0.0.1:0"],
  ["VANTAGE_HTTP_ADDR", "127.0.0.1:65536"],
  ["VANTAGE_HTTP_ADDR", "::1:8080"],
  ["VANTAGE_HTTP_ADDR", "[127.0.0.1]:80"],
  ["VANTAGE_HTTP_ADDR", "127.0.0:80"],
  ["VANTAGE_HTTP_ADDR", "off"],
  ["VANTAGE_METRICS_ADDR", "Off"],
  ["VANTAGE_BASE_URL", "example.com"],
  ["VANTAGE_BASE_URL", "ftp://example.com"],
  ["VANTAGE_BASE_URL", "https://a.example/?x=1"],
  ["VANTAGE_BASE_URL", "https://user@a.example"],
  ["DATABASE_URL", "mysql://a/b"],
  ["VANTAGE_TRUSTED_PROXIES", "10.0.0.0/33"],
  ["VANTAGE_TRUSTED_PROXIES", "10.0.0.0/8,,"],
  ["VANTAGE_TRUSTED_PROXIES", "proxy.example"],
  ["VANTAGE_CONTROL_PLANE", "a.example"],
  ["VANTAGE_LATLONG", "91,0"],
  ["VANTAGE_LATLONG", "52.37"],
  ["VANTAGE_ASN", "0"],
  ["VANTAGE_COUNTRY", "NLD"],
  ["VANTAGE_REGION", "../../etc"],
  ["VANTAGE_REGION", "EU West"],
  ["VANTAGE_TAGS", "a b"],
  ["VANTAGE_DNS_SERVERS", "dns.example"],
  ["VANTAGE_ALLOW_NAMES", "a..b"],
  ["VANTAGE_RETENTION_CHECKS", "90"],
  ["VANTAGE_RETENTION_CHECKS", "0d"],
  ["VANTAGE_WEBHOOK_RETRY_SCHEDULE", "0s;5s"],
  ["VANTAGE_WEBHOOK_TIMEOUT", "1d"],
  ["VANTAGE_V1_V2_SUNSET", "2026-02-30T00:00:00Z"],
  ["VANTAGE_V1_V2_SUNSET", "tomorrow"],
  ["VANTAGE_MAX_JOBS", "1e3"],
  ["VANTAGE_SIGNUP", "OPEN"],
  ["VANTAGE_CYMRU_ZONES", "a.example,b.example"],
  ["VANTAGE_MAIL_FROM", "nobody"],
  ["VANTAGE_RESOLVERS", "[{}]"],
  ["VANTAGE_RESOLVERS", "[1"],
  ["VANTAGE_CITY", "a\nb"],
  ["VANTAGE_REGION", "x".repeat(1_000_000)],
];

test.each(BAD)("%s=%.60s is rejected in one line that names it", (name, text) => {
  const said = line({ [name]: text });
  expect(said.startsWith(`${name} must be `)).toBe(true);
  expect(said).not.toContain("\n");
  expect(said.length).toBeLessThan(500);
});

test("a secret's value is never in the line", () => {
  const said = ["VANTAGE_ADMIN_TOKEN", "VANTAGE_MASTER_KEY", "DATABASE_URL", "VANTAGE_SMTP_URL"].map((name) =>
    line({ [name]: "hunter2 hunter2" }),
  );
  for (const each of said) expect(each).toMatch(/^[A-Z_]+ must be (?!.*hunter2)/);
});

test.each(["#", "/", "?", "%", "\\", " ", "%zz", "%ff", "12/3", "1?4", "#@", "a@/b"])(
  "a mail server's password with %s is refused with how to write it, and not shown",
  (piece) => {
    for (const password of [piece, `hunter2${piece}hunter2`, `${piece}hunter2`, `hunter2${piece}`]) {
      const said = line({ VANTAGE_SMTP_URL: `smtp://user:${password}@mail.example:587` });
      expect(said).toMatch(
        /^VANTAGE_SMTP_URL must be .*; in user and password write # as %23, \/ as %2F, \? as %3F, % as %25/,
      );
      expect(said).not.toContain("hunter2");
      expect(said.length).toBeLessThan(500);
    }
    const encoded = encodeURIComponent(`hunter2${piece}`);
    const given = { VANTAGE_SMTP_URL: `smtp://user:${encoded}@mail.example:587`, VANTAGE_MAIL_FROM: "a@b.example" };
    expect(value("smtpUrl", given)).toMatchObject({ credentials: { password: `hunter2${piece}` } });
  },
);

test("a mail server whose password is not what is wrong has no such hint", () => {
  for (const url of ["smtp://user:p%23@mail.example/path", "smtp://mail.example#x", "http://u:p@mail.example"]) {
    expect(line({ VANTAGE_SMTP_URL: url })).not.toContain("%23,");
  }
});

test("a master key is 32 bytes", () => {
  const key = Buffer.alloc(32, 7);
  expect(value("masterKey", { VANTAGE_MASTER_KEY: key.toString("base64") })).toEqual(key);
  expect(line({ VANTAGE_MASTER_KEY: Buffer.alloc(31).toString("base64") })).toContain("32 bytes");
});

test("resolvers can be in the value itself", () => {
  const entries = [{ id: "q9", name: "Quad9", location: "anycast", address: "9.9.9.9:53", transport: "udp" }];
  expect(value("resolvers", { VANTAGE_RESOLVERS: JSON.stringify(entries) })).toEqual({ entries });
});

test("settings that belong together are rejected alone, by the process that uses them", () => {
  expect(line({ VANTAGE_TLS_CERT: "a.pem" })).toBe("VANTAGE_TLS_CERT needs VANTAGE_TLS_KEY");
  expect(line({ VANTAGE_TLS_CERT: "a.pem" }, "agent")).toBe("accepted");
  expect(line({ VANTAGE_SMTP_URL: "smtp://mail.example" })).toBe("VANTAGE_SMTP_URL needs VANTAGE_MAIL_FROM");
  expect(line({ VANTAGE_MAIL_FROM: "a@b.example" })).toBe("VANTAGE_MAIL_FROM needs VANTAGE_SMTP_URL");
  expect(line({ VANTAGE_JOIN_TOKEN: "a", VANTAGE_JOIN_TOKEN_FILE: "b" }, "agent")).toContain("are both set: unset one");
});
