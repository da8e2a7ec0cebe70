import { mimeEssence } from "#probe-agent/analysis/http/header-list.ts";
import type { CacheReport } from "#probe-agent/analysis/http/cache-report.ts";
import type { PageResource } from "#probe-agent/analysis/page/page-resources/resource.ts";

/** A resource and the facts from its HTTP response. */
export interface MeasuredResource extends PageResource {
  /** HTTP status. null if there was no response. */
  readonly status: number | null;
  /** Size of the body on the wire, as sent to a client that accepts compression. null if unknown. */
  readonly bytes: number | null;
  /** Size without the content coding. null if only the head was requested or the body was not read to its end. */
  readonly decodedBytes: number | null;
  /** Content coding. null if there is none or only the head was requested. */
  readonly encoding: string | null;
  readonly contentType: string | null;
  readonly httpVersion: string | null;
  readonly cache: CacheReport | null;
  /** Reason why the resource was not measured, or only in part. null if there was no failure. */
  readonly failure: string | null;
}

/** Measured resources of a page. */
export interface Measurement {
  readonly measured: readonly MeasuredResource[];
  /** Number of resources found but not measured, because of the limits on number and time for one page. */
  readonly unmeasured: number;
}

/** Reports whether a body of this type becomes smaller by compression. */
export function isCompressible(contentType: string | null): boolean {
  const type = mimeEssence(contentType);
  return /^text\/|[/+](?:json|xml)$|javascript|ecmascript|svg|manifest|wasm|font\/[ot]tf|x-font-ttf|vnd\.ms-fontobject/.test(
    type,
  );
}

/** Minimum size of a text that gains by compression, in bytes. Smaller texts fit into one packet. */
export const WORTH_COMPRESSING_BYTES = 1400;

/** Returns the sum of the known sizes and the number of unknown ones. */
export function sumBytes(sizes: readonly (number | null)[]): { readonly bytes: number; readonly unknown: number } {
  return {
    bytes: sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0),
    unknown: sizes.filter((size) => size === null).length,
  };
}

/** Maximum number of resources of one page that are requested. */
export const MAX_MEASURED = 60;

/** Returns the limitations of a measurement, one sentence each. */
export function resourceLimitations({ measured, unmeasured }: Measurement, truncated: boolean): string[] {
  const unknown = measured.filter(({ bytes }) => bytes === null).length;
  return [
    ...(truncated ? ["The page references more resources than are checked."] : []),
    ...(unmeasured > 0
      ? [`Resources not measured: ${unmeasured}. Up to ${MAX_MEASURED} are measured, if there is time.`]
      : []),
    ...(unknown > 0 ? [`Resources of unknown size, because they failed or do not state it: ${unknown}.`] : []),
  ];
}
