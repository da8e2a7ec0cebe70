// Program of the thread that parses large documents. It has no access to the database or the network.
import { parentPort } from "node:worker_threads";
import { parseDocument } from "#control-plane/monitors/transfer/parse-document.ts";

parentPort?.on("message", (bytes: Uint8Array) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(parseDocument(bytes));
});
