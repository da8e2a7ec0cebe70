/** Formats a time as in "2026-11-23 02:41:07 UTC". */
export function formatTime(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
