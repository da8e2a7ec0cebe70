/** Splits host:port of a target. */
export function splitTarget(target: string): { readonly host: string; readonly port: number } {
  const at = target.lastIndexOf(":");
  const host = target.slice(0, at);
  return { host: host.startsWith("[") ? host.slice(1, -1) : host, port: Number(target.slice(at + 1)) };
}

/** Returns the last label of a domain. */
export function topLevelOf(domain: string): string {
  return domain.slice(domain.lastIndexOf(".") + 1);
}
