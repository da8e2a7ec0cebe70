// Receives webhooks with Node.js alone: node receive.mjs <secret file> [port]
// Webhooks need HTTPS: put it behind a proxy that has a certificate.
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [, , secretFile, port = "8787"] = process.argv;
const secret = readFileSync(secretFile, "utf8").split("\n", 1)[0].trim();
const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret, "utf8");
const MOST_BYTES = 1_048_576;
const MOST_IDS = 10_000;
/** The last events that were handled. Several processes need one store, such as a table with a unique key. */
const handled = new Set();

function isSigned(headers, body) {
  const { "webhook-id": id = "", "webhook-timestamp": time = "", "webhook-signature": signatures = "" } = headers;
  if (!/^[0-9]{1,11}$/.test(time) || Math.abs(Date.now() / 1_000 - Number(time)) > 300) return false;
  const expected = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest();
  // After a rotation of the secret there are two signatures for 24 hours.
  return signatures.split(" ", 10).some((entry) => {
    const given = Buffer.from(entry.startsWith("v1,") ? entry.slice(3) : "", "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function handle(event) {
  console.log(`received ${event.type}`);
}

async function receive(request, response) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= MOST_BYTES) chunks.push(chunk);
  }
  if (request.method !== "POST") return response.writeHead(405, { allow: "POST" }).end();
  if (length > MOST_BYTES) return response.writeHead(413).end();
  // The signature is over these bytes: verify first, then parse.
  const body = Buffer.concat(chunks);
  if (!isSigned(request.headers, body)) return response.writeHead(401).end();
  const id = request.headers["webhook-id"];
  if (!handled.has(id)) handle(JSON.parse(body.toString("utf8")));
  handled.add(id);
  if (handled.size > MOST_IDS) handled.delete(handled.values().next().value);
  response.writeHead(204).end();
}

// After an answer of 500 the event is sent again.
const server = createServer((request, response) => {
  receive(request, response).catch((error) => {
    console.error(error);
    response.writeHead(500).end();
  });
});
server.requestTimeout = 30_000;
server.listen(Number(port), "127.0.0.1", () => console.log(`listening on port ${server.address().port}`));
