import { expect, it } from "vitest";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { checkValueOf } from "#shared/settings/master-key.ts";
import { systemRandom } from "#test/support/clock.ts";

const encryption = createEncryption(Buffer.alloc(32, 1), systemRandom);
const secret = Buffer.from("whsec_of somebody");

it("an encrypted secret, even an empty one, can be decrypted, and two encryptions of it differ", () => {
  const sealed = encryption.seal(secret, "webhooks.secrets 1");
  expect(encryption.open(sealed, "webhooks.secrets 1")).toEqual(secret);
  expect(Buffer.from(sealed).includes(secret)).toBe(false);
  expect(encryption.seal(secret, "webhooks.secrets 1")).not.toEqual(sealed);
  expect(encryption.open(encryption.seal(Buffer.alloc(0), "webhooks.secrets"), "webhooks.secrets")).toEqual(
    Buffer.alloc(0),
  );
});

it("a secret cannot be decrypted for another purpose, with another key, or if it was altered or cut", () => {
  const sealed = encryption.seal(secret, "webhooks.secrets 1");
  expect(encryption.open(sealed, "webhooks.secrets 2")).toBeNull();
  expect(createEncryption(Buffer.alloc(32, 2), systemRandom).open(sealed, "webhooks.secrets 1")).toBeNull();
  for (let at = 0; at < sealed.length; at += 1) {
    const altered = Uint8Array.from(sealed);
    altered[at] = (altered[at] ?? 0) ^ 0x10;
    expect(encryption.open(altered, "webhooks.secrets 1")).toBeNull();
    expect(encryption.open(sealed.subarray(0, at), "webhooks.secrets 1")).toBeNull();
  }
});

it("each key has a check value, which decrypts nothing", () => {
  const key = Buffer.alloc(32, 1);
  expect(checkValueOf(key)).toEqual(checkValueOf(Buffer.alloc(32, 1)));
  expect(checkValueOf(key)).not.toEqual(checkValueOf(Buffer.alloc(32, 2)));
  const sealed = encryption.seal(secret, "webhooks.secrets");
  expect(createEncryption(checkValueOf(key), systemRandom).open(sealed, "webhooks.secrets")).toBeNull();
});
