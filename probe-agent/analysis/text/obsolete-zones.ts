/**
 * Offsets of time zones by name in lower case, in minutes east of UTC (RFC 5322 section 4.3, from RFC 822 section 5.1).
 */
export const OBSOLETE_ZONES: ReadonlyMap<string, number> = new Map([
  ["ut", 0],
  ["utc", 0],
  ["gmt", 0],
  ["z", 0],
  ["est", -300],
  ["edt", -240],
  ["cst", -360],
  ["cdt", -300],
  ["mst", -420],
  ["mdt", -360],
  ["pst", -480],
  ["pdt", -420],
]);
