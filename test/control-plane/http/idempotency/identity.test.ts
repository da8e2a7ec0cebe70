import { describe, expect, it } from "vitest";
import {
  identifyWrite,
  isIdempotencyKey,
  lockNumber,
  type WriteRequest,
} from "#control-plane/http/idempotency/identity.ts";

const WRITE: WriteRequest = {
  keyId: 1,
  method: "POST",
  route: "/api/v4/batch",
  params: {},
  query: { b: "2", a: "1" },
  body: Buffer.from('{"urls":[]}'),
};
const hex = (write: Partial<WriteRequest>, key = "k") => {
  const { scope, fingerprint } = identifyWrite({ ...WRITE, ...write }, key);
  return { scope: scope.toString("hex"), fingerprint: fingerprint.toString("hex") };
};

describe("the identity of a write", () => {
  it("does not depend on the order of the query", () => {
    expect(hex({ query: { a: "1", b: "2" } })).toEqual(hex({}));
  });

  it.each<[string, Partial<WriteRequest>]>([
    ["method", { method: "DELETE" }],
    ["route", { route: "/api/v4/measurements" }],
    ["parameters of the path", { params: { a: "1" } }],
    ["query", { query: { b: "2", a: "3" } }],
    ["order of one name's values", { query: { a: "1", b: ["2", "1"] } }],
  ])("changes with the %s", (_, write) => {
    const base = hex(Array.isArray(write.query?.["b"]) ? { query: { a: "1", b: ["1", "2"] } } : {});
    expect(hex(write).scope).not.toBe(base.scope);
    expect(hex(write).fingerprint).not.toBe(base.fingerprint);
  });

  it("has a scope for each API key and idempotency key, and the same fingerprint in each scope", () => {
    for (const other of [hex({ keyId: 2 }), hex({}, "K")]) {
      expect(other.scope).not.toBe(hex({}).scope);
      expect(other.fingerprint).toBe(hex({}).fingerprint);
    }
  });

  it("has the same scope but another fingerprint if the body differs", () => {
    const other = hex({ body: Buffer.from('{"urls": []}') });
    expect(other.scope).toBe(hex({}).scope);
    expect(other.fingerprint).not.toBe(hex({}).fingerprint);
  });

  it("distinguishes parts that have the same text when joined", () => {
    expect(hex({ keyId: 1, method: "1POST" }).scope).not.toBe(hex({ keyId: 11, method: "POST" }).scope);
    expect(hex({ query: { b: "c" } }, "d").scope).not.toBe(hex({ query: {} }, "b=cd").scope);
    expect(hex({ query: { b: "1,2" } }).scope).not.toBe(hex({ query: { b: ["1", "2"] } }).scope);
  });

  it("has a lock number that fits PostgreSQL's bigint", () => {
    expect(lockNumber(Buffer.from("ffffffffffffffff00", "hex"))).toBe("-1");
    expect(lockNumber(Buffer.from("7fffffffffffffff00", "hex"))).toBe("9223372036854775807");
  });
});

describe("a client's key", () => {
  it.each(["a", "~!{}", "x".repeat(255), "7f3c-9"])("can be %s", (key) => expect(isIdempotencyKey(key)).toBe(true));
  it.each(["", "a b", "x".repeat(256), "ä", "a\tb", "a\n", "\u007f"])("cannot be %j", (key) =>
    expect(isIdempotencyKey(key)).toBe(false),
  );
});
