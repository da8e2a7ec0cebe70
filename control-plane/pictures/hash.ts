import { createHash } from "node:crypto";

/** Returns the SHA-256 of a picture as lower-case hex. */
export function hashOfPicture(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
