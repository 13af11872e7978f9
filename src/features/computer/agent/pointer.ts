/** The mouse's pointer in pictures. */
import type { Region } from "./hands.ts";

/** `x`, `y`: of its top left on the screen. `pixels`: RGBA, premultiplied. */
export type Pointer = Region & { pixels: Uint8Array };

/** Draws it into a picture. `pixels`: RGBA of the region. */
export const drawPointer = (pixels: Uint8Array, region: Region, pointer: Pointer): void => {
  for (let row = 0; row < pointer.height; row += 1)
    for (let column = 0; column < pointer.width; column += 1) {
      const [x, y] = [pointer.x + column - region.x, pointer.y + row - region.y];
      if (x < 0 || y < 0 || x >= region.width || y >= region.height) continue;
      const from = (row * pointer.width + column) * 4;
      const to = (y * region.width + x) * 4;
      const rest = 255 - (pointer.pixels[from + 3] as number);
      for (let channel = 0; channel < 3; channel += 1)
        pixels[to + channel] =
          (pointer.pixels[from + channel] as number) + Math.round(((pixels[to + channel] as number) * rest) / 255);
    }
};

/** The arrow of a browser without a screen: black with a white edge. Its tip is where the mouse is. */
const arrow = [
  "#           ",
  "##          ",
  "#.#         ",
  "#..#        ",
  "#...#       ",
  "#....#      ",
  "#.....#     ",
  "#......#    ",
  "#.......#   ",
  "#........#  ",
  "#.........# ",
  "#......#####",
  "#...#..#    ",
  "#..# #..#   ",
  "#.#  #..#   ",
  "##    #..#  ",
  "#     #..#  ",
  "       ##   ",
];

/** The arrow with its tip here. */
export const arrowAt = ({ x, y }: { x: number; y: number }): Pointer => {
  const width = arrow[0]?.length ?? 0;
  const pixels = new Uint8Array(width * arrow.length * 4);
  for (const [index, mark] of [...arrow.join("")].entries()) {
    if (mark === " ") continue;
    pixels.fill(mark === "#" ? 255 : 0, index * 4, index * 4 + 3);
    pixels[index * 4 + 3] = 255;
  }
  return { x, y, width, height: arrow.length, pixels };
};
