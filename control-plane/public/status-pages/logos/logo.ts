import { refuse, type Read } from "#shared/schema/problem.ts";
import { hashOf } from "#control-plane/http/operations/document.ts";
import { readRasterHeader } from "#shared/images/raster.ts";

/** The logo of a page, without its content. */
export interface PageLogo {
  readonly type: keyof typeof EXTENSIONS;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Hash of the content: another content has another address. */
  readonly hash: string;
}

/** Maximum size of a logo, bytes. */
export const MOST_LOGO_BYTES = 65_536;
/** Maximum width and height, pixels. */
const MOST_PIXELS = 2_000;
/** What is allowed, for people. */
export const LOGO_RULE = "a PNG, JPEG or WebP image of at most 64 KB and 2,000 x 2,000 pixels";

const BASE64 = /^[\d+/A-Za-z]*={0,2}$/;
const EXTENSIONS = { "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp" } as const;
/** The media type of each format that a logo may have. */
const TYPES = { png: "image/png", jpeg: "image/jpeg", webp: "image/webp", gif: null, bmp: null } as const;

/** Reads a logo from a data URI. The type that the URI names is not looked at: the first bytes say it. */
export function readLogo(given: string): Read<PageLogo> {
  if (!isDataUri(given)) {
    return refuse("logo", "type", `must be a data URI in base64, such as data:image/png;base64,..., of ${LOGO_RULE}`);
  }
  const content = contentOf(given);
  if (content.length > MOST_LOGO_BYTES) {
    return refuse("logo", "range", `is larger than 64 KB; it must be ${LOGO_RULE}`);
  }
  const type = logoType(content);
  if (type === null) return refuse("logo", "type", `must be ${LOGO_RULE}`);
  const size = readRasterHeader(content)?.size ?? null;
  if (size === null) return refuse("logo", "type", `is cut or damaged; it must be ${LOGO_RULE}`);
  const { width, height } = size;
  if (Math.max(width, height) > MOST_PIXELS) {
    return refuse("logo", "range", `has ${width} x ${height} pixels; it must be ${LOGO_RULE}`);
  }
  return { ok: true, value: { type, width, height, hash: hashOf(content) } };
}

/** Returns the media type of a picture by its first bytes; null: none that a logo may have. */
export function logoType(content: Uint8Array): PageLogo["type"] | null {
  const format = readRasterHeader(content)?.format;
  return format === undefined ? null : TYPES[format];
}

/** Returns the content of a data URI that readLogo accepts. */
export function contentOf(dataUri: string): Buffer {
  return Buffer.from(dataUri.slice(dataUri.indexOf(",") + 1), "base64");
}

/** Returns a logo as a data URI. */
export function toDataUri(type: string, content: Uint8Array): string {
  return `data:${type};base64,${Buffer.from(content).toString("base64")}`;
}

/** Returns the path of a logo below its page. */
export function logoPath({ hash, type }: PageLogo): string {
  return `/logo/${hash}.${EXTENSIONS[type]}`;
}

/** Returns a logo in words, for the log of changes, which does not keep its content. */
export function describeLogo({ type, width, height, hash }: PageLogo): string {
  return `${type}, ${width} x ${height} pixels, SHA-256 ${hash}`;
}

function isDataUri(given: string): boolean {
  const comma = given.indexOf(",");
  // The head first: a text of another form is not searched to its end.
  return (
    comma > 0 &&
    comma < 100 &&
    /^data:[\w+./-]*;base64$/i.test(given.slice(0, comma)) &&
    BASE64.test(given.slice(comma + 1))
  );
}
