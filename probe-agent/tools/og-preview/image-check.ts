import { readImageHeader } from "#probe-agent/analysis/page/image-size.ts";
import { typeMatches } from "#probe-agent/analysis/page/social/required.ts";
import { headerValues, joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";

/** Octets read of an image: its size stands near the beginning, before which only metadata can come. */
const IMAGE_BYTES = 512 * 1024;
const NOTHING = {
  code: null,
  content_type: null,
  format: null,
  type_matches: null,
  bytes: null,
  width: null,
  height: null,
  ratio: null,
} as const;

/** Fetches the beginning of an image and reads what it is. Never fails: what went wrong is in `error`. */
export async function checkImage(net: Net, url: string) {
  if (!/^https?:/.test(url)) return { url: url.slice(0, 200), ...NOTHING, error: "not an http or https address" };
  const fetched = await net.http.fetch({ url, method: "GET", follow: true, maxBodyBytes: IMAGE_BYTES });
  if (fetched.status === "failed") return { url, ...NOTHING, error: fetched.message };
  if (fetched.status !== "ok") return { url, ...NOTHING, error: "leads to an address that may not be contacted" };
  const { final, body } = fetched.data;
  const contentType = joinedHeader(final.headers, "content-type");
  const seen = { url, ...NOTHING, code: final.code, content_type: contentType, bytes: bytesOf(fetched.data) };
  if (final.code !== 200) return { ...seen, error: `answers with status ${final.code}` };
  const header = readImageHeader(body.bytes);
  const size = header?.size ?? null;
  const format = header?.format ?? null;
  return {
    ...seen,
    format,
    type_matches: typeMatches({ content_type: contentType, format }),
    width: size?.width ?? null,
    height: size?.height ?? null,
    ratio: size === null ? null : Math.round((size.width / size.height) * 1000) / 1000,
    error: errorOf(header === null, size === null, body.error),
  };
}

function errorOf(unknown: boolean, sizeless: boolean, failure: string | null): string | null {
  if (failure !== null) return `could not be read to its end: ${failure}`;
  if (unknown) return "no image of a known format";
  return sizeless ? "its header does not tell its size" : null;
}

/** The whole size: counted where all came, else as the server says it. */
function bytesOf({ final, body }: PageSnapshot): number | null {
  if (!body.truncated) return body.error === null ? body.decodedBytes : null;
  const [length = ""] = headerValues(final.headers, "content-length");
  return body.encoding === null && /^\d{1,15}$/.test(length) ? Number(length) : null;
}
