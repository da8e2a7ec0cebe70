import { expect, it } from "vitest";
import { createAccountShares } from "#control-plane/watching/checking/watch/account-shares.ts";

const MOST = 2_000;
const CLAIMED = 250;

/** Begins checks of an account until it is full. Returns how many have begun. */
function fill(shares: ReturnType<typeof createAccountShares>, accountId: number): number {
  let begun = 0;
  while (shares.begin(accountId)) begun += 1;
  return begun;
}

it("each account gets at most half of what the others leave, so that there is room for the next one", () => {
  const shares = createAccountShares(MOST, CLAIMED);
  expect([1, 2, 3, 4].map((account) => fill(shares, account))).toEqual([1_000, 500, 250, 125]);
  for (let n = 0; n < 1_000; n += 1) shares.end(1);
  expect(fill(shares, 4)).toBeGreaterThan(400);
});

it("an account is left alone until a whole claim of its checks fits", () => {
  const shares = createAccountShares(MOST, CLAIMED);
  expect(shares.full()).toEqual([]);
  fill(shares, 1);
  expect(shares.full()).toEqual([1]);
  for (let n = 0; n < CLAIMED - 1; n += 1) shares.end(1);
  expect(shares.full()).toEqual([1]);
  shares.end(1);
  expect(shares.full()).toEqual([]);
  expect(fill(shares, 1)).toBe(CLAIMED);
});

it("an account with a small share is left alone until half of it is free", () => {
  const shares = createAccountShares(MOST, CLAIMED);
  for (const account of [1, 2, 3, 4]) fill(shares, account);
  for (let n = 0; n < 62; n += 1) shares.end(4);
  expect(shares.full()).toContain(4);
  for (let n = 0; n < 40; n += 1) shares.end(4);
  expect(shares.full()).not.toContain(4);
});

it("an account whose checks have all ended is not full", () => {
  const shares = createAccountShares(4, 1);
  const begun = fill(shares, 1);
  for (let n = 0; n < begun; n += 1) shares.end(1);
  expect(shares.full()).toEqual([]);
});
