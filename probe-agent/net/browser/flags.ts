/**
 * Returns the flags of a browser that can reach only its gate (`port`, a SOCKS5 proxy on loopback) and stores nothing.
 * playwright adds other flags itself (profile, pipe, no extensions, sync, updates or background traffic).
 */
export function browserFlags(port: number): string[] {
  return [
    // Sends all traffic to the gate, including loopback. Names are resolved only there (Chromium's own advice for
    // SOCKS).
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

/** Returns the environment of the browser and its wrapper script. It contains nothing of the agent's environment. */
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

/** Further flags of a browser that takes a picture: the same page gives the same pixels. */
export const PICTURE_FLAGS: readonly string[] = [
  // An image is decoded before the frame that shows it is drawn.
  "--disable-checker-imaging",
  // Animated images (GIF, WebP, APNG) show their first frame (third_party/blink/public/mojom/webpreferences).
  "--blink-settings=imageAnimationPolicy=2",
  "--disable-lcd-text",
  "--font-render-hinting=none",
  "--force-color-profile=srgb",
];
