import { expect, test } from "vitest";
import { readConfig, type Config } from "#control-plane/core/config.ts";

const DATABASE_URL = "postgres://user@127.0.0.1/vantage";

function config(environment: Record<string, string>): Config {
  const read = readConfig({ DATABASE_URL, ...environment });
  if (!read.ok) throw new Error(read.line);
  return read.config;
}

test("without npm start, the control plane needs a database setting", () => {
  expect(readConfig({})).toEqual({ ok: false, line: expect.stringMatching(/^DATABASE_URL must be set/) });
});

test("the defaults are a complete configuration on loopback", () => {
  expect(config({})).toMatchObject({
    databaseUrl: DATABASE_URL,
    http: { host: "127.0.0.1", port: 8080 },
    grpc: { host: "127.0.0.1", port: 50_051 },
    metrics: { address: { host: "127.0.0.1", port: 9464 }, defaulted: true },
    baseUrl: "http://localhost:8080",
    isBaseUrlSet: false,
    tls: null,
    trustedProxies: [],
  });
});

test("the base URL follows the listener and TLS, and never contains an unspecified address", () => {
  const tls = { VANTAGE_TLS_CERT: "c.pem", VANTAGE_TLS_KEY: "k.pem" };
  expect(config({ VANTAGE_HTTP_ADDR: "0.0.0.0:443", ...tls }).baseUrl).toBe("https://localhost:443");
  expect(config({ VANTAGE_HTTP_ADDR: "[::]:81" }).baseUrl).toBe("http://localhost:81");
  expect(config({ VANTAGE_HTTP_ADDR: "127.0.0.2:81" }).baseUrl).toBe("http://127.0.0.2:81");
  expect(config({ VANTAGE_HTTP_ADDR: "192.0.2.1:81" }).baseUrl).toBe("http://192.0.2.1:81");
  expect(config({ VANTAGE_HTTP_ADDR: "[2001:db8::1]:81" }).baseUrl).toBe("http://[2001:db8::1]:81");
  expect(config({ VANTAGE_HTTP_ADDR: "vantage.example:81" }).baseUrl).toBe("http://vantage.example:81");
  expect(config({ VANTAGE_BASE_URL: "https://status.example/x/" }).baseUrl).toBe("https://status.example/x");
});

test.each([
  [{}, "closed"],
  [{ VANTAGE_SIGN_UP: "open" }, "open"],
  [{ VANTAGE_SIGNUP: "open" }, "open"],
  [{ VANTAGE_SIGNUP: "invite" }, "closed"],
  [{ VANTAGE_SIGNUP: "closed" }, "closed"],
  [{ VANTAGE_SIGNUP: "open", VANTAGE_SIGN_UP: "closed" }, "closed"],
  [{ VANTAGE_SIGNUP: "closed", VANTAGE_SIGN_UP: "open" }, "open"],
])("the sign-up with %j is %s", (environment, expected) => {
  expect(config(environment).signUp).toBe(expected);
});

test("metrics can be off, and a configured address is not a default", () => {
  expect(config({ VANTAGE_METRICS_ADDR: "off" }).metrics.address).toBeNull();
  expect(config({ VANTAGE_METRICS_ADDR: "127.0.0.1:9464" }).metrics.defaulted).toBe(false);
});

test.each(["0.0.0.0:50051", "[::]:50051", "192.0.2.1:50051", "hub.example:50051", "127.0.0.9:50051"])(
  "agents authenticate, so their listener can have any address: %s",
  (address) => expect(config({ VANTAGE_GRPC_ADDR: address }).grpc.port).toBe(50051),
);
