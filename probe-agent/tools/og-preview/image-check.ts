import { readImageHeader } from "#probe-agent/analysis/page/image-size.ts";
import { typeMatches } from "#probe-agent/analysis/page/social/required.ts";
import { headerValues, joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";

/**
 * Maximum number of bytes read of an image. Its width and height are near the beginning; only metadata can come before
 * them.
 */
const IMAGE_BYTES = 512 * 1024;
const NO_FACTS = {
  code: null,
  content_type: null,
  format: null,
  type_matches: null,
  bytes: null,
  width: null,
  height: null,
  ratio: null,
} as const;

/**
 * Fetches the beginning of an image and reads its format and size. Never throws: the reason of a failure is in `error`.
 */
export async function checkImage(net: Net, url: string) {
  if (!/^https?:/.test(url)) return { url: url.slice(0, 200), ...NO_FACTS, error: "not an http or https address" };
  const fetched = await net.http.fetch({ url, method: "GET", follow: true, maxBodyBytes: IMAGE_BYTES });
  if (fetched.status === "failed") return { url, ...NO_FACTS, error: fetched.message };
  if (fetched.status !== "ok") return { url, ...NO_FACTS, error: "leads to an address that probes must not contact" };
  const { final, body } = fetched.data;
  const contentType = joinedHeader(final.headers, "content-type");
  const response = { url, ...NO_FACTS, code: final.code, content_type: contentType, bytes: bytesOf(fetched.data) };
  if (final.code !== 200) return { ...response, error: `responds with status ${final.code}` };
  const header = readImageHeader(body.bytes);
  const size = header?.size ?? null;
  const format = header?.format ?? null;
  return {
    ...response,
    format,
    type_matches: typeMatches({ content_type: contentType, format }),
    width: size?.width ?? null,
    height: size?.height ?? null,
    ratio: size === null ? null : Math.round((size.width / size.height) * 1000) / 1000,
    error: errorOf(header === null, size === null, body.error),
  };
}

function errorOf(unknownFormat: boolean, unknownSize: boolean, failure: string | null): string | null {
  if (failure !== null) return `could not be read completely: ${failure}`;
  if (unknownFormat) return "not an image of a known format";
  return unknownSize ? "the image header has no size" : null;
}

/**
 * Returns the size of the whole image in bytes: counted if the image was read completely, otherwise from
 * Content-Length. Returns null if it is unknown.
 */
function bytesOf({ final, body }: PageSnapshot): number | null {
  if (!body.truncated) return body.error === null ? body.decodedBytes : null;
  const [length = ""] = headerValues(final.headers, "content-length");
  return body.encoding === null && /^\d{1,15}$/.test(length) ? Number(length) : null;
}
