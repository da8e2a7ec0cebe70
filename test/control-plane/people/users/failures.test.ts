import { describe, expect, it } from "vitest";
import { countersOf, firstToForget, type Attempt } from "#control-plane/people/users/failures.ts";

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

type Failed = ReadonlyMap<string, readonly number[]>;

/** Returns the first failure to forget before an attempt; null if it has room. The time is the number of the failure. */
function waitOf(attempt: Attempt, failed: Failed): number | null {
  const lists = countersOf(attempt);
  const full = lists.flat().flatMap(({ subject, most }) => {
    const last = failed.get(subject)?.at(-most);
    return last === undefined ? [] : [[subject, new Date(last)] as const];
  });
  return firstToForget(lists, new Map(full))?.getTime() ?? null;
}

/** Makes attempts fail, one after the other, and returns how many of them have room and what they leave. */
function fail(attempts: readonly Attempt[]): { readonly through: number; readonly failed: Failed } {
  const failed = new Map<string, number[]>();
  let through = 0;
  for (const [index, attempt] of attempts.entries()) {
    if (waitOf(attempt, failed) !== null) continue;
    through += 1;
    for (const { subject } of countersOf(attempt).flat()) failed.set(subject, [...(failed.get(subject) ?? []), index]);
  }
  return { through, failed };
}

const times = (count: number, make: (index: number) => Attempt) =>
  Array.from({ length: count }, (_, index) => make(index));
const isLet = (attempt: Attempt, failed: Failed) => waitOf(attempt, failed) === null;

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
    ["a device", 10, times(200, () => DEVICE)],
    ["a session", 10, times(200, () => SESSION)],
    ["a session and its device together", 10, times(200, () => BOTH)],
    [
      "a device that is carried from network to network, the last of them as a stranger",
      100,
      times(200, (index) => ({ ...DEVICE, network: `10.0.${index}`, address: `10.0.${index}.1` })),
    ],
  ])("of %s are %i", (_who, most, attempts) => expect(fail(attempts).through).toBe(most));

  it.each([
    ["a stranger", STRANGER, false],
    ["a neighbour in the network", NEIGHBOUR, false],
    ["a stranger elsewhere", ELSEWHERE, true],
    ["another user of the address", OTHER_USER, true],
    ["a device of the user", DEVICE, true],
    ["a session of the user", SESSION, true],
  ])("of a stranger, 10 of them, leave room for %s: %s", (_who, attempt, expected) =>
    expect(isLet(attempt, fail(times(10, () => STRANGER)).failed)).toBe(expected),
  );

  it.each([
    ["a stranger elsewhere", ELSEWHERE, false],
    ["another user", OTHER_USER, true],
    ["a device of the user", DEVICE, true],
    ["a session of the user", SESSION, true],
  ])("of strangers everywhere leave room for %s: %s", (_who, attempt, expected) =>
    expect(isLet(attempt, fail(EVERYWHERE).failed)).toBe(expected),
  );

  it.each([
    ["the device", DEVICE, false],
    ["the device elsewhere", { ...ELSEWHERE, deviceId: 7 }, true],
    ["another device of the user", OTHER_DEVICE, true],
    ["a session on the device", BOTH, true],
    ["a stranger in its network", NEIGHBOUR, false],
    ["a stranger elsewhere", ELSEWHERE, true],
  ])("of a device, 10 of them, leave room for %s: %s", (_who, attempt, expected) =>
    expect(isLet(attempt, fail(times(10, () => DEVICE)).failed)).toBe(expected),
  );

  it.each([
    ["the device", DEVICE, false],
    ["another device of the user", OTHER_DEVICE, true],
    ["the session", SESSION, true],
  ])("of strangers everywhere and of a device leave room for %s: %s", (_who, attempt, expected) =>
    expect(isLet(attempt, fail([...EVERYWHERE, ...times(10, () => DEVICE)]).failed)).toBe(expected),
  );

  it("say when there is room again: of several lists the first one that has", () => {
    const { failed } = fail([...EVERYWHERE, ...times(10, () => DEVICE)]);
    expect(waitOf(ELSEWHERE, failed)).toBe(10);
    expect(waitOf(DEVICE, failed)).toBe(100);
    // Of the user's counter the 10 oldest failures must go as well, because the device has failed beyond it.
    expect(waitOf({ ...DEVICE, network: "198.51.0", address: "198.51.0.1" }, failed)).toBe(10);
  });
});
