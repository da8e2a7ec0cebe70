// Verifies an audit export with Node.js alone: node verify.mjs <export.json> <secret file>
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";

const [, , exportFile, secretFile] = process.argv;
const answer = JSON.parse(readFileSync(exportFile, "utf8"));
const secret = readFileSync(secretFile, "utf8").split("\n", 1)[0].trim();
// The whole response, or its `data`.
const { data, sig } = "sig" in answer ? answer : answer.data;

/**
 * Writes the canonical form (RFC 8785): names sorted by UTF-16 code units, no whitespace. JSON.stringify writes numbers
 * and strings as the RFC wants them.
 */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

function fail(why) {
  console.error(`NOT verified: ${why}`);
  process.exit(1);
}

const kid = createHash("sha256").update(secret, "utf8").digest("hex").slice(0, 8);
if (sig.kid !== kid) fail(`it was signed with the secret ${sig.kid}, and this one is ${kid}`);
const expected = createHmac("sha256", secret)
  .update(`${sig.ts}.${canonical(data)}`)
  .digest();
const given = Buffer.from(sig.value, "hex");
if (given.length !== expected.length || !timingSafeEqual(given, expected)) fail("it is not what was signed");
console.log(`Verified: ${data.type} of account ${data.account_id}, generated at ${data.generated_at}`);
