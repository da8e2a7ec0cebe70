import { describe, expect, it } from "vitest";
import { parseAssets } from "#probe-agent/analysis/page/tech/asset.ts";

function only(address: string) {
  const [asset, ...more] = parseAssets("script", address);
  expect(more).toEqual([]);
  return { name: asset?.name, version: asset?.version, hosted: asset?.hosted };
}

describe("the address of a library's file", () => {
  it.each([
    ["https://code.jquery.com/jquery-3.7.1.min.js", "jquery", "3.7.1"],
    ["/js/jquery.min.js?ver=6.1.1", "jquery", null],
    ["/wp-content/themes/leaf/js/bootstrap.min.js?ver=1.0.4", "bootstrap", null],
    ["/wp-includes/js/jquery/jquery.js?ver=1.12.4-wp", "jquery", "1.12.4"],
    ["/wp-includes/js/jquery/jquery.min.js?x=1&ver=3.7.1", "jquery", "3.7.1"],
    ["/js/jquery-3.5.1.min.dc5e7f18c8.js?site=64", "jquery", "3.5.1"],
    ["/js/jquery-ui-1.8.18.custom.min.js", "jquery-ui", "1.8.18"],
    ["/css/20141218-1418944297-foundation.min.js", "foundation", null],
    ["/assets/turbo-0123456789abcdef.js", "turbo", null],
    ["/js/facade.js", "facade", null],
    ["/js/modernizr.custom.12345.js", "modernizr", null],
    ["/js/video-player-init.js", "video-player-init", null],
    ["/js/jquery.min.js?v=20231104", "jquery", null],
    ["/bootstrap.js/loader.php", "", null],
  ])("%s", (address, name, version) => {
    expect(only(address)).toMatchObject({ name, version });
  });

  it.each([
    ["https://cdn.jsdelivr.net/npm/bootstrap@5.3.3/dist/js/bootstrap.bundle.min.js", "bootstrap", "5.3.3"],
    ["https://unpkg.com/@popperjs/core@2.11.8", "@popperjs/core", "2.11.8"],
    ["https://cdnjs.cloudflare.com/ajax/libs/gsap/3.12.5/gsap.min.js", "gsap", "3.12.5"],
    ["https://cdn.jsdelivr.net/npm/alpinejs@3.x.x/dist/cdn.min.js", "alpinejs", "3"],
    ["https://unpkg.com/leaflet@^1.9/dist/leaflet.js", "leaflet", "1.9"],
    ["/wp-content/plugins/elementor/assets/js/frontend.min.js?ver=3.18.3", "plugins/elementor", "3.18.3"],
    ["/wp-content/plugins/elementor/assets/lib/swiper/swiper.min.js?ver=8.4.5", "plugins/elementor", null],
    ["/wp-content/plugins/akismet/_inc/akismet-frontend.js?ver=1690000000", "plugins/akismet", null],
  ])("%s is part of a package", (address, hosted, version) => {
    const [asset] = parseAssets("script", address);
    expect(asset?.hosted).toBe(hosted);
    expect(asset?.packages.get(hosted)).toBe(version);
  });

  it("does not read a year in a folder name as a version", () => {
    expect(parseAssets("script", "/jquery/2016/jquery.js")[0]?.packages.get("jquery")).toBeNull();
  });

  it("can name several files that a server joins", () => {
    const names = parseAssets("style", "/min/?f=css/bootstrap.css,css/site.css").map(({ name }) => name);
    expect(names).toEqual(["", "bootstrap", "site"]);
  });
});
