import { PNG } from "pngjs";

/** Pictures of 5 x 3 pixels, in base64, as Chromium writes them, by the form of their size. */
export const PICTURES = {
  jpeg:
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqm" +
    "x5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAADAAUD" +
    "ASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAX/xAAYEAEAAwEAAAAAAAAAAAAAAAAABUOBwf/EABUBAQEAAAAAAAAAAAAAAAAAAAED/8QA" +
    "GBEAAgMAAAAAAAAAAAAAAAAAAAEDMTL/2gAMAwEAAhEDEQA/AJUtVvAFZdsXZ//Z",
  vp8: "UklGRjAAAABXRUJQVlA4ICQAAABwAQCdASoFAAMABABoJaACdAGgAAD+0Mr9Xfx9+2C3SbsDAAA=",
  vp8l: "UklGRiAAAABXRUJQVlA4TBMAAAAvBIAAEA8wUCM43/Mf8OhDRP8DAA==",
  vp8x: "UklGRlYAAABXRUJQVlA4WAoAAAAQAAAABAAAAgAAQUxQSAsAAAABDzD/ERGiDxH9DwBWUDggJAAAAHABAJ0BKgUAAwAEAGglmAJ0AaAAAP7Qyuc/WrXa7i9SVLIAAA==",
} as const;

/** Draws a PNG of one colour. */
export function drawPng(width: number, height: number, [red, green, blue] = [130, 80, 223]): Buffer {
  const png = new PNG({ width, height });
  for (let at = 0; at < png.data.length; at += 4) png.data.set([red ?? 0, green ?? 0, blue ?? 0, 255], at);
  return PNG.sync.write(png);
}

/** Returns a picture as a data URI. */
export function dataUri(content: Buffer, type = "image/png"): string {
  return `data:${type};base64,${content.toString("base64")}`;
}
