import { expect, it } from "vitest";
import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import { monitorVisual } from "#probe-agent/monitor-checks/monitor-visual.ts";
import type { BrowserPort, Capture, CaptureRequest } from "#probe-agent/port/browser.ts";
import { jobLimits, netOf } from "#test/support/net.ts";

const PARAMS = {
  url: "https://example.com/",
  width: 640,
  height: 400,
  full_page: true,
  timeout_seconds: 30,
  known: null,
  always_whole: false,
} as const;

async function check(captured: Outcome<Capture> | null, params: object = {}) {
  const requests: CaptureRequest[] = [];
  const files: Uint8Array[] = [];
  const browser: BrowserPort | null =
    captured === null
      ? null
      : {
          measure: () => Promise.reject(new Error("nothing is measured")),
          capture(request) {
            requests.push(request);
            return Promise.resolve(captured);
          },
        };
  const net = netOf({ browser, attachFile: (bytes: Uint8Array) => void files.push(bytes) }, jobLimits(40_000));
  return { outcome: await monitorVisual.run(net, { ...PARAMS, ...params }), requests, files };
}

it("a page of which there is a picture is up, and the picture travels as a file", async () => {
  const png = Uint8Array.from([1, 2, 3]);
  const { outcome, requests, files } = await check(ok({ png, status: 200, responseMs: 120 }), { wait_ms: 700 });
  expect(outcome).toMatchObject({
    status: "ok",
    data: { verdict: "up", response_ms: 120, http_status: 200, fault: null, whole: null },
  });
  expect(files).toEqual([png]);
  expect(requests).toMatchObject([{ url: PARAMS.url, width: 640, height: 400, fullPage: true, waitMs: 700 }]);
  expect(requests[0]?.timeoutMs).toBeLessThan(40_000);
});

it.each([404, 500, 503])("the page of an HTTP error (%i) is no picture", async (status) => {
  const { outcome, files } = await check(ok({ png: Uint8Array.from([1]), status, responseMs: 120 }));
  expect(outcome).toMatchObject({ status: "failed", source: "target", reason: "http_error" });
  expect(outcome).toHaveProperty("message", `the page answers with HTTP ${status}, so no picture of it counts`);
  expect(files).toEqual([]);
});

it("a page without a picture is a failure of the check, without a file", async () => {
  const crash = failed("response", "target", "page_crashed", "the page crashed the browser process");
  expect(await check(crash)).toMatchObject({ outcome: crash, files: [] });
});

it("an agent without a browser reports that it has none", async () => {
  expect((await check(null)).outcome).toMatchObject({ status: "failed", source: "probe", reason: "no_browser" });
});
