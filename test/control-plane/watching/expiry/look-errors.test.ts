import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, it } from "vitest";
import { failed } from "#shared/contracts/outcome.ts";
import { readExpiryDetails } from "#control-plane/watching/expiry/read/expiry-details.ts";
import { SHOWN_EXPIRY } from "#control-plane/monitors/routes/expiry-schemas.ts";
import {
  DAY_MS,
  MINUTE_MS,
  openExpiryWorld,
  registration,
  handshakeResult,
  fullResult,
  type ExpiryWorld,
  type Replica,
  type Script,
} from "#test/control-plane/watching/expiry/world.ts";
import { createTestDatabase } from "#test/support/postgres.ts";

const START = new Date("2026-01-01T00:00:00Z");
const HOUR_MS = 60 * MINUTE_MS;
const CERTIFICATE = { digit: "a", notBefore: START, notAfter: new Date(START.getTime() + 300 * DAY_MS) };
const GOOD: Script = (tool) =>
  fullResult(tool === "monitor-ssl" ? handshakeResult(CERTIFICATE) : registration({ expires: "2028-01-01T00:00:00Z" }));
const BAD: Script = (tool) =>
  tool === "monitor-ssl"
    ? failed("connect", "target", "timeout", "shop.example port 443: connection timed out")
    : failed("response", "service", "rate_limited", "no registry returned a registration: \u0007its limit is reached.");

let world: ExpiryWorld;
let replica: Replica;
let id = 0;
beforeAll(async () => {
  world = await openExpiryWorld(await createTestDatabase(), START);
  replica = world.openReplica();
  world.answer(BAD);
  [id = 0] = await world.addMonitors([{ url: "https://shop.example/", checkType: "http" }], { watch_domain: true });
});
afterAll(() => world?.close());

async function pass(hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour += 1) {
    world.advance(HOUR_MS);
    await replica.round();
  }
}

/** Reads what the monitor shows, in the form of the API. */
async function read() {
  const known = (await readExpiryDetails(world.sql, [id], world.now())).get(id);
  for (const name of ["certificate", "certificate_error", "domain", "domain_error"] as const) {
    expect([name, ...Value.Errors(SHOWN_EXPIRY[name], known?.[name] ?? null)]).toEqual([name]);
  }
  return known;
}

it("a monitor shows why its certificate and its domain are not known yet, and when they are looked at next", async () => {
  await replica.round();
  const known = await read();
  expect(known).toMatchObject({ certificate: null, domain: null });
  expect(known?.certificate_error).toMatchObject({
    reason: "timeout",
    message: "The certificate of shop.example:443 could not be read: shop.example port 443: connection timed out.",
    failed_since: START.toISOString(),
  });
  const { reason, message, next_look_at: next = "" } = known?.domain_error ?? {};
  expect(reason).toBe("rate_limited");
  expect(message).toBe(
    "The registry could not be asked about shop.example: " +
      "no registry returned a registration: its limit is reached.",
  );
  expect(Date.parse(next) - START.getTime()).toBeGreaterThanOrEqual(6 * HOUR_MS);
});

it("a look that no probe could make is made as soon as one is online", async () => {
  world.leave();
  const [other = 0] = await world.addMonitors([{ url: "https://other.example/", checkType: "http" }]);
  const known = async () => (await readExpiryDetails(world.sql, [other], world.now())).get(other);
  await replica.round();
  expect((await known())?.certificate_error).toMatchObject({
    reason: "no_probe",
    message: "The certificate of other.example:443 could not be read: No probe is online for this location.",
  });
  world.answer(GOOD);
  world.join();
  world.advance(15_000);
  await replica.round();
  expect(await known()).toMatchObject({ certificate: { issuer: "CN=R1" }, certificate_error: null });
  world.answer(BAD);
});

it("since when the looks fail is the first of them, until one succeeds", async () => {
  await pass(12);
  expect((await read())?.certificate_error?.failed_since).toBe(START.toISOString());
  expect((await read())?.domain_error?.failed_since).toBe(START.toISOString());
  world.answer(GOOD);
  await pass(24);
  expect(await read()).toMatchObject({
    certificate: { days_left: expect.any(Number) },
    certificate_error: null,
    domain: { days_left: expect.any(Number) },
    domain_error: null,
  });
});

it("what was found stays beside the error of a later look", async () => {
  world.answer(BAD);
  await pass(40);
  const known = await read();
  expect(known?.certificate?.fingerprint_sha256).toBe("a".repeat(64));
  expect(known?.certificate_error?.message).toMatch(/connection timed out\. The last answer still counts\.$/);
  expect(known?.domain?.registrar).toBe("Registrar");
  expect(known?.domain_error?.message).toMatch(/The last answer still counts\.$/);
});

it("a registry that contradicts itself is shown as in doubt", async () => {
  world.answer(GOOD);
  await pass(48);
  world.answer((tool, params) =>
    tool === "monitor-domain" ? fullResult(registration({ expires: "2025-06-01T00:00:00Z" })) : GOOD(tool, params),
  );
  for (let hour = 0; hour < 40 && (await read())?.domain_error == null; hour += 1) await pass(1);
  const doubtedAt = world.now();
  expect((await read())?.domain_error).toEqual({
    reason: "lapse_in_doubt",
    message:
      "The registry says that shop.example has lapsed; before, it said the opposite. " +
      "It is asked again an hour later, and only then it counts.",
    failed_since: doubtedAt.toISOString(),
    next_look_at: new Date(doubtedAt.getTime() + HOUR_MS).toISOString(),
  });
  expect((await world.types(id)).filter((type) => type.startsWith("domain."))).toEqual([]);
  await pass(1);
  expect(await read()).toMatchObject({ domain: { expires_at: "2025-06-01T00:00:00.000Z" }, domain_error: null });
  expect(await world.types(id)).toEqual(["domain.expired"]);
});
