import { ok } from "#shared/outcome.ts";
import { emailHeader as contract, MAX_HEADERS_BYTES } from "#shared/tools/email-header.ts";
import { analyseHeaders } from "#probe-agent/analysis/email-headers.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Explains raw headers; nothing is reached, nothing outside is asked. */
export const emailHeader = implement(contract, (net, { headers }) => {
  const now = net.now();
  if (Buffer.byteLength(headers) > MAX_HEADERS_BYTES) {
    return Promise.resolve({
      status: "invalid",
      field: "headers",
      message: `must have at most ${MAX_HEADERS_BYTES} octets`,
    });
  }
  return Promise.resolve(ok({ ...analyseHeaders(headers, now), source: ["headers"], observed_at: now.toISOString() }));
});
