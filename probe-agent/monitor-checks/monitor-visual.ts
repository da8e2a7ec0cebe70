import { failed, ok } from "#shared/contracts/outcome.ts";
import { monitorVisual as contract } from "#shared/monitor-checks/monitor-visual.ts";
import { answerWith } from "#probe-agent/monitor-checks/answer.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Time of the check that is kept for the answer, in milliseconds. */
const RESERVE_MS = 200;

/** First status of an error (RFC 9110 section 15). */
const FIRST_ERROR = 400;

/**
 * Takes a picture of a page, which travels as a file with the result. A page of which there is a picture is up. The page
 * of an HTTP error is none. Failures are those of the browser; http_error; no_browser with source probe if the agent has
 * none.
 */
export const monitorVisual = implement(contract, async (net, params) => {
  if (net.browser === null) {
    return failed("request", "probe", "no_browser", "the probe has no browser (Chromium), which takes the pictures");
  }
  const { url, width, height, full_page: fullPage, wait_ms: waitMs = 0 } = params;
  const timeoutMs = Math.max(0, net.remainingMs() - RESERVE_MS);
  const captured = await net.browser.capture({ url, width, height, fullPage, waitMs, timeoutMs });
  if (captured.status !== "ok") return captured;
  const { png, status, responseMs } = captured.data;
  if (status !== null && status >= FIRST_ERROR) {
    const message = `the page answers with HTTP ${status}, so no picture of it counts`;
    return failed("response", "target", "http_error", message);
  }
  net.attachFile(png);
  return ok(
    await answerWith({ fault: null, responseMs, httpStatus: status, phases: null }, params, () =>
      Promise.resolve(null),
    ),
  );
});
