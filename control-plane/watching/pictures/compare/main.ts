// Program of the thread that decodes and compares pictures. It has no access to the database or the network.
import { parentPort } from "node:worker_threads";
import { MAX_ARTIFACT_BYTES } from "#shared/protocol/wire.ts";
import { comparePictures } from "#control-plane/watching/pictures/compare/compare.ts";
import type { CompareAnswer, CompareOrder } from "#control-plane/watching/pictures/compare/messages.ts";
import { decodePng, encodePng, type Pixels } from "#control-plane/watching/pictures/compare/png.ts";

function run({ taken, accepted, ignored, showAbove }: CompareOrder): CompareAnswer {
  const second = decodePng(Buffer.from(taken));
  if (second === null) return { kind: "invalid" };
  if (accepted === null) return { kind: "compared", ratio: 0, difference: null };
  const first = decodePng(Buffer.from(accepted));
  // It was verified when it was stored.
  if (first === null) throw new Error("a stored picture cannot be decoded");
  const { ratio, difference } = comparePictures(first, second, ignored);
  return { kind: "compared", ratio, difference: showAbove !== null && ratio > showAbove ? show(difference) : null };
}

function show(difference: Pixels): Extract<CompareAnswer, { kind: "compared" }>["difference"] {
  const bytes = encodePng(difference);
  const { width, height } = difference;
  return bytes.length > MAX_ARTIFACT_BYTES ? null : { bytes: Uint8Array.from(bytes), width, height };
}

parentPort?.on("message", (order: CompareOrder) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(run(order));
});
