import { expect, test } from "vitest";
import { readConfig, type Config } from "#probe-agent/config.ts";

function config(environment: Record<string, string>): Config {
  const read = readConfig(environment);
  if (!read.ok) throw new Error(read.line);
  return read.config;
}

test("an agent without settings is in region local", () => {
  expect(config({})).toMatchObject({
    controlPlane: ["127.0.0.1:50051"],
    stateDir: "./.vantage/agents/local",
    place: { region: "local", city: null, country: null, latitude: null, longitude: null, asn: null, tags: [] },
    maxJobs: 200,
    dnsServers: null,
    metrics: { address: { host: "127.0.0.1", port: 9465 }, defaulted: true },
    sources: { cymruZones: { origin: "origin.asn.cymru.com", origin6: "origin6.asn.cymru.com", asn: "asn.cymru.com" } },
  });
});

test("the location is read from its settings", () => {
  const place = {
    VANTAGE_REGION: "eu-west",
    VANTAGE_CITY: "Amsterdam",
    VANTAGE_COUNTRY: "nl",
    VANTAGE_LATLONG: "52.37,4.89",
    VANTAGE_ASN: "AS64496",
    VANTAGE_TAGS: "edge",
  };
  expect(config(place).place).toEqual({
    region: "eu-west",
    city: "Amsterdam",
    country: "NL",
    latitude: 52.37,
    longitude: 4.89,
    asn: 64_496,
    tags: ["edge"],
  });
});

test("each region of a data directory has separate state, unless a folder is set", () => {
  expect(config({ VANTAGE_REGION: "b", VANTAGE_DATA_DIR: "/d" }).stateDir).toBe("/d/agents/b");
  expect(config({ VANTAGE_STATE_DIR: "/s" }).stateDir).toBe("/s");
});

test("an invalid setting is reported on one line", () => {
  expect(readConfig({ VANTAGE_MAX_JOBS: "many" })).toEqual({
    ok: false,
    line: 'VANTAGE_MAX_JOBS must be a whole number from 1 to 100000, not "many"',
  });
});

test("the control plane's settings do not affect an agent", () => {
  expect(readConfig({ VANTAGE_GRPC_ADDR: "0.0.0.0:50051", VANTAGE_TLS_CERT: "x" }).ok).toBe(true);
});
