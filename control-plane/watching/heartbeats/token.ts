import { hash } from "node:crypto";
import type { Random } from "#shared/time/clock.ts";
import { randomBase62 } from "#control-plane/accounts/keys/format.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

const LENGTH = 32;
const TOKEN = /^[0-9A-Za-z]{32}$/;
const PURPOSE = "heartbeats.token";

/** A token to store: its SHA-256, by which pings find it, and the token itself, encrypted. */
export interface StoredToken {
  readonly hash: Buffer;
  readonly sealed: Uint8Array;
}

/** Creates a token of 32 random base62 characters, 190 bits. */
export function createToken(random: Random, encryption: Encryption): StoredToken {
  const token = randomBase62(random, LENGTH);
  return { hash: hashToken(token), sealed: encryption.seal(Buffer.from(token), PURPOSE) };
}

/** Decrypts a stored token. Throws if it was altered, or sealed with another master key: a broken row. */
export function openToken(encryption: Encryption, sealed: Uint8Array): string {
  const opened = encryption.open(sealed, PURPOSE);
  if (opened === null) throw new Error("the stored token of a heartbeat cannot be decrypted");
  return Buffer.from(opened).toString("utf8");
}

/** Reports whether a text has the form of a token. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Returns the SHA-256 of a text, which can be a token. */
export function hashToken(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
