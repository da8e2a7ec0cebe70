import { describe, expect, it } from "vitest";
import { chooseCounters, countersOf, type Attempt, type Counted } from "#control-plane/users/failures.ts";

const STRANGER: Attempt = {
  user: "owner@example.com",
  address: "192.0.2.1",
  network: "192.0.2",
  session: null,
  deviceId: null,
};
const NEIGHBOUR: Attempt = { ...STRANGER, address: "192.0.2.2" };
const ELSEWHERE: Attempt = { ...STRANGER, address: "203.0.113.1", network: "203.0.113" };
const OTHER_USER: Attempt = { ...STRANGER, user: "other@example.com" };
const DEVICE: Attempt = { ...STRANGER, deviceId: 7 };
const OTHER_DEVICE: Attempt = { ...STRANGER, deviceId: 8 };
const SESSION: Attempt = { ...STRANGER, session: "1 1000" };
const BOTH: Attempt = { ...DEVICE, session: "1 1000" };

/** Makes attempts fail, one after the other, and returns how many of them are let through and what they leave. */
function fail(attempts: readonly Attempt[]): { readonly through: number; readonly counted: Map<string, Counted> } {
  const counted = new Map<string, Counted>();
  let through = 0;
  for (const [index, attempt] of attempts.entries()) {
    const choice = chooseCounters(countersOf(attempt), counted);
    if (!choice.ok) continue;
    through += 1;
    for (const { subject } of choice.chosen) {
      const { made, oldest } = counted.get(subject) ?? { made: 0, oldest: new Date(index) };
      counted.set(subject, { made: made + 1, oldest });
    }
  }
  return { through, counted };
}

const times = (count: number, make: (index: number) => Attempt) =>
  Array.from({ length: count }, (_, index) => make(index));
const isLet = (attempt: Attempt, counted: ReadonlyMap<string, Counted>) =>
  chooseCounters(countersOf(attempt), counted).ok;

/** 10 failures in each of 10 networks: all that strangers have for one user. */
const EVERYWHERE = times(100, (index) => {
  const network = `198.51.${Math.floor(index / 10)}`;
  return { ...STRANGER, network, address: `${network}.${index % 10}` };
});

describe("failures of a sign-in", () => {
  it.each([
    ["a stranger", 10, times(200, () => STRANGER)],
    [
      "a stranger with many addresses of a network",
      10,
      times(200, (index) => ({ ...STRANGER, address: `192.0.2.${index}` })),
    ],
    [
      "strangers everywhere",
      100,
      times(3_000, (index) => ({ ...STRANGER, address: `10.0.${index}.1`, network: `10.0.${index}` })),
    ],
    ["an address with many users", 30, times(200, (index) => ({ ...STRANGER, user: String(index) }))],
    [
      "a network with many users",
      300,
      times(3_000, (index) => ({ ...STRANGER, user: String(index), address: `192.0.2.${index % 250}` })),
    ],
    ["a device, and then as a stranger", 20, times(200, () => DEVICE)],
    ["a session, and then as a stranger", 20, times(200, () => SESSION)],
    ["a session, then its device, and then as a stranger", 30, times(200, () => BOTH)],
  ])("of %s are %i", (_who, most, attempts) => expect(fail(attempts).through).toBe(most));

  it.each([
    ["a stranger", STRANGER, false],
    ["a neighbour in the network", NEIGHBOUR, false],
    ["a stranger elsewhere", ELSEWHERE, true],
    ["another user of the address", OTHER_USER, true],
    ["a device of the user", DEVICE, true],
    ["a session of the user", SESSION, true],
  ])("of a stranger, 10 of them, leave room for %s: %s", (_who, attempt, expected) =>
    expect(isLet(attempt, fail(times(10, () => STRANGER)).counted)).toBe(expected),
  );

  it.each([
    ["a stranger elsewhere", ELSEWHERE, false],
    ["another user", OTHER_USER, true],
    ["a device of the user", DEVICE, true],
    ["a session of the user", SESSION, true],
  ])("of strangers everywhere leave room for %s: %s", (_who, attempt, expected) =>
    expect(isLet(attempt, fail(EVERYWHERE).counted)).toBe(expected),
  );

  it.each([
    ["the device", DEVICE, true],
    ["another device of the user", OTHER_DEVICE, true],
    ["a session on the device", BOTH, true],
    ["a stranger", STRANGER, true],
  ])("of a device, 10 of them, take nothing from %s", (_who, attempt, expected) =>
    expect(isLet(attempt, fail(times(10, () => DEVICE)).counted)).toBe(expected),
  );

  it.each([
    ["the device", DEVICE, false],
    ["another device of the user", OTHER_DEVICE, true],
    ["the session", SESSION, true],
  ])("of strangers everywhere and of a device leave room for %s: %s", (_who, attempt, expected) =>
    expect(isLet(attempt, fail([...EVERYWHERE, ...times(10, () => DEVICE)]).counted)).toBe(expected),
  );

  it("say when there is room again: of several lists the first one that has", () => {
    const { counted } = fail([...EVERYWHERE, ...times(10, () => DEVICE)]);
    expect(chooseCounters(countersOf(ELSEWHERE), counted)).toEqual({ ok: false, oldest: new Date(0) });
    const { counted: pair } = fail(
      times(40, (index) => (index < 30 ? { ...STRANGER, user: String(index) } : ELSEWHERE)),
    );
    // The address is full since 0, the pair of another address since 30.
    expect(chooseCounters(countersOf({ ...STRANGER, user: "x" }), pair)).toEqual({ ok: false, oldest: new Date(0) });
    expect(chooseCounters(countersOf(ELSEWHERE), pair)).toEqual({ ok: false, oldest: new Date(30) });
  });
});
