import { expect, it } from "vitest";
import { programName } from "#control-plane/surfaces/dashboard/program-name.ts";

const MOZILLA = "Mozilla/5.0";
const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";
const IPHONE = "(iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";

it.each([
  [`${MOZILLA} (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0`, "Firefox on Linux"],
  [`${MOZILLA} (X11; Ubuntu; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0`, "Firefox on Linux"],
  [`${MOZILLA} (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0`, "Firefox on Windows"],
  [`${MOZILLA} (Android 14; Mobile; rv:128.0) Gecko/128.0 Firefox/128.0`, "Firefox on Android"],
  [`${MOZILLA} ${IPHONE} FxiOS/128.0 Mobile/15E148 Safari/605.1.15`, "Firefox on iPhone"],
  [`${MOZILLA} (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`, "Chrome on Windows"],
  [`${MOZILLA} (Linux; Android 10; K) ${WEBKIT} Chrome/126.0.0.0 Mobile Safari/537.36`, "Chrome on Android"],
  [`${MOZILLA} (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`, "Chrome on ChromeOS"],
  [`${MOZILLA} (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/126.0.0.0 Safari/537.36`, "Chrome on Linux"],
  [`${MOZILLA} ${IPHONE} CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1`, "Chrome on iPhone"],
  [
    `${MOZILLA} (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0`,
    "Edge on Windows",
  ],
  [
    `${MOZILLA} (Linux; Android 10; HD1913) ${WEBKIT} Chrome/126.0.6478.122 Mobile Safari/537.36 EdgA/126.0.2592.80`,
    "Edge on Android",
  ],
  [
    `${MOZILLA} (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/64.0.3282.140 Safari/537.36 Edge/18.17763`,
    "Edge on Windows",
  ],
  [
    `${MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15`,
    "Safari on macOS",
  ],
  [`${MOZILLA} ${IPHONE} Version/17.5 Mobile/15E148 Safari/604.1`, "Safari on iPhone"],
  [
    `${MOZILLA} (iPad; CPU OS 12_5_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1`,
    "Safari on iPad",
  ],
  [
    `${MOZILLA} (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/125.0.0.0 Safari/537.36 OPR/111.0.0.0`,
    "Opera on Windows",
  ],
  [
    `${MOZILLA} (Linux; Android 13; SAMSUNG SM-S911B) ${WEBKIT} SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36`,
    "Samsung Internet on Android",
  ],
  ["curl/8.1.2", "curl 8.1"],
  ["curl/8.1", "curl 8.1"],
  ["curl", "curl"],
  ["Wget/1.21.4", "Wget 1.21"],
  ["python-requests/2.32.3", "python-requests 2.32"],
  // No system that is known, and products whose names only have that of a browser in them.
  [`${MOZILLA} (Plan9; rv:128.0) Gecko/20100101 Firefox/128.0`, "Firefox"],
  [`${MOZILLA} (X11; Linux x86_64) NotFirefox/1.0`, null],
  [`${MOZILLA} (compatible; Googlebot/2.1; +http://www.google.com/bot.html)`, null],
  ["Firefox", null],
  ["curl/<script>", "curl"],
  ["", null],
  ["/", null],
  // What comes after the part that is read is unknown.
  [`${"x".repeat(600)} Firefox/128.0`, null],
])("the program of %j is %j", (userAgent, name) => {
  expect(programName(userAgent)).toBe(name);
});
