/**
 * Flags of a browser that may reach nothing but its gate (`port`, a SOCKS5 proxy on loopback) and keeps nothing. Those
 * that playwright passes by itself (profile, pipe, no extensions, sync, updates or background traffic) stand beside them.
 */
export function browserFlags(port: number): string[] {
  return [
    // All traffic to the gate, loopback too; names are resolved only there (Chromium's own advice for SOCKS).
    `--proxy-server=socks5://127.0.0.1:${port}`,
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    // UDP bypasses the proxy: QUIC, WebTransport, WebRTC, and discovery of devices by multicast.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--media-router=0",
    // Chromium's own requests to Google; the two that no flag turns off go to a port where it never connects.
    "--component-updater=url-source=http://127.0.0.1:9/",
    "--gaia-url=http://127.0.0.1:9/",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-gpu",
    "--disable-crash-reporter",
    "--no-first-run",
    "--no-pings",
    // Limits of one page.
    "--renderer-process-limit=4",
    "--js-flags=--max-old-space-size=512",
    "--disk-cache-size=1",
    "--media-cache-size=1",
  ];
}

/** Environment of the browser and its wrapper script: nothing of the agent's. */
export function browserEnvironment(folder: string): Record<string, string> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: folder,
    TMPDIR: folder,
    XDG_CONFIG_HOME: folder,
    XDG_CACHE_HOME: folder,
    LANG: "C.UTF-8",
  };
}
