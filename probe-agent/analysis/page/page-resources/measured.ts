import type { CacheReport } from "#probe-agent/analysis/http/cache-report.ts";
import type { PageResource } from "#probe-agent/analysis/page/page-resources/resource.ts";

/** A resource as the network gave it. */
export interface MeasuredResource extends PageResource {
  /** HTTP status; null where nothing answered. */
  readonly status: number | null;
  /** Of the body on the wire, as its server sends it to a client that takes compression; null where it is not known. */
  readonly bytes: number | null;
  /** Without its content coding; null where only the head was asked for or the end was not reached. */
  readonly decodedBytes: number | null;
  /** Content coding; null for none, and where only the head was asked for. */
  readonly encoding: string | null;
  readonly contentType: string | null;
  readonly httpVersion: string | null;
  readonly cache: CacheReport | null;
  /** Why it was not measured or only in part; null where all went well. */
  readonly failure: string | null;
}

/** What was measured of a page's resources. */
export interface Measurement {
  readonly measured: readonly MeasuredResource[];
  /** Found, but beyond the number or the time that is spent on one page. */
  readonly unmeasured: number;
}

/** Whether a body of this type gains by compression. */
export function isCompressible(contentType: string | null): boolean {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^text\/|[/+](?:json|xml)$|javascript|ecmascript|svg|manifest|wasm|font\/[ot]tf|x-font-ttf|vnd\.ms-fontobject/.test(
    type,
  );
}

/** Smaller texts gain nothing by compression: they fit one packet. */
export const WORTH_COMPRESSING_BYTES = 1400;

/** Sum of a list of sizes that may be unknown, and how many of them are. */
export function sumBytes(sizes: readonly (number | null)[]): { readonly bytes: number; readonly unknown: number } {
  return {
    bytes: sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0),
    unknown: sizes.filter((size) => size === null).length,
  };
}

/** Resources of one page asked for at most. */
export const MAX_MEASURED = 60;

/** What is not known of a page's resources, one sentence each. */
export function resourceLimitations({ measured, unmeasured }: Measurement, truncated: boolean): string[] {
  const unknown = measured.filter(({ bytes }) => bytes === null).length;
  return [
    ...(truncated ? ["The page names more resources than are looked at."] : []),
    ...(unmeasured > 0
      ? [`Resources not measured: ${unmeasured}. At most ${MAX_MEASURED} are, and while there is time.`]
      : []),
    ...(unknown > 0 ? [`Resources of unknown size, because they failed or do not tell it: ${unknown}.`] : []),
  ];
}
