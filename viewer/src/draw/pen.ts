// SPDX-License-Identifier: Apache-2.0
// What charts are drawn with. One way to draw, two papers: the screen's canvas, and an SVG file.

export interface TextStyle {
  fill: string;
  size?: number;
  align?: 'left' | 'center' | 'right';
  bold?: boolean;
  width?: number; // cut to this
}
export interface LineStyle {
  stroke: string;
  width?: number;
  dash?: number[];
}
export interface Pen {
  rect(x: number, y: number, w: number, h: number, fill: string, alpha?: number): void;
  frame(x: number, y: number, w: number, h: number, style: LineStyle): void;
  line(points: number[], style: LineStyle): void; // x, y, x, y, ...
  area(points: number[], fill: string, alpha?: number): void;
  text(x: number, y: number, text: string, style: TextStyle): void; // y: the middle of the line
  clipped(x: number, y: number, w: number, h: number, draw: () => void): void;
}

export const kFont = 'system-ui, "DejaVu Sans", sans-serif';
const kSize = 11;

export class CanvasPen implements Pen {
  private readonly widths = new Map<string, number>();
  constructor(private readonly context: CanvasRenderingContext2D) {}

  rect(x: number, y: number, w: number, h: number, fill: string, alpha = 1): void {
    this.context.globalAlpha = alpha;
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, w, h);
    this.context.globalAlpha = 1;
  }
  frame(x: number, y: number, w: number, h: number, style: LineStyle): void {
    this.stroke(style);
    this.context.strokeRect(x, y, w, h);
  }
  line(points: number[], style: LineStyle): void {
    this.stroke(style);
    this.trace(points);
    this.context.stroke();
  }
  area(points: number[], fill: string, alpha = 1): void {
    this.context.globalAlpha = alpha;
    this.context.fillStyle = fill;
    this.trace(points);
    this.context.fill();
    this.context.globalAlpha = 1;
  }
  text(x: number, y: number, text: string, style: TextStyle): void {
    const { context } = this;
    context.font = `${style.bold ? '600 ' : ''}${style.size ?? kSize}px ${kFont}`;
    context.textAlign = style.align ?? 'left';
    context.textBaseline = 'middle';
    context.fillStyle = style.fill;
    const shown =
      style.width === undefined ? text : this.cut(text.slice(0, 400), style.width, context.font);
    if (shown) context.fillText(shown, x, y);
  }
  clipped(x: number, y: number, w: number, h: number, draw: () => void): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, w, h);
    this.context.clip();
    draw();
    this.context.restore();
  }

  private stroke(style: LineStyle): void {
    this.context.strokeStyle = style.stroke;
    this.context.lineWidth = style.width ?? 1;
    this.context.setLineDash(style.dash ?? []);
  }
  private trace(points: number[]): void {
    this.context.beginPath();
    for (let i = 0; i < points.length; i += 2) this.context.lineTo(points[i], points[i + 1]);
  }
  private cut(text: string, width: number, font: string): string {
    if (this.measure(text, font) <= width) return text;
    let low = 0;
    let high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
      else high = middle - 1;
    }
    return low > 2 ? `${text.slice(0, low)}…` : '';
  }
  private measure(text: string, font: string): number {
    const key = `${font}|${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      width = this.context.measureText(text).width;
      if (this.widths.size > 5000) this.widths.clear();
      this.widths.set(key, width);
    }
    return width;
  }
}

// Text in an SVG is markup: what could be taken for some is written as its number.
export function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

export class SvgPen implements Pen {
  private readonly parts: string[] = [];
  private clips = 0;

  rect(x: number, y: number, w: number, h: number, fill: string, alpha = 1): void {
    this.parts.push(
      `<rect x="${num(x)}" y="${num(y)}" width="${num(w)}" height="${num(h)}" fill="${escapeXml(fill)}"${alpha < 1 ? ` fill-opacity="${alpha}"` : ''}/>`,
    );
  }
  frame(x: number, y: number, w: number, h: number, style: LineStyle): void {
    this.parts.push(
      `<rect x="${num(x)}" y="${num(y)}" width="${num(w)}" height="${num(h)}" fill="none"${stroke(style)}/>`,
    );
  }
  line(points: number[], style: LineStyle): void {
    this.parts.push(
      `<polyline points="${points.map(num).join(' ')}" fill="none"${stroke(style)}/>`,
    );
  }
  area(points: number[], fill: string, alpha = 1): void {
    this.parts.push(
      `<polygon points="${points.map(num).join(' ')}" fill="${escapeXml(fill)}" fill-opacity="${alpha}"/>`,
    );
  }
  text(x: number, y: number, text: string, style: TextStyle): void {
    const size = style.size ?? kSize;
    // No font is at hand to measure with: a letter is taken to be a bit more than half as wide as high.
    const most = style.width === undefined ? 400 : Math.floor(style.width / (size * 0.56));
    if (most < 3) return;
    const shown = text.length > most ? `${text.slice(0, most - 1)}…` : text;
    const anchor = { left: 'start', center: 'middle', right: 'end' }[style.align ?? 'left'];
    this.parts.push(
      `<text x="${num(x)}" y="${num(y + size * 0.36)}" font-size="${size}" fill="${escapeXml(style.fill)}" text-anchor="${anchor}"${style.bold ? ' font-weight="600"' : ''}>${escapeXml(shown)}</text>`,
    );
  }
  clipped(x: number, y: number, w: number, h: number, draw: () => void): void {
    const id = `c${this.clips++}`;
    this.parts.push(
      `<clipPath id="${id}"><rect x="${num(x)}" y="${num(y)}" width="${num(w)}" height="${num(h)}"/></clipPath><g clip-path="url(#${id})">`,
    );
    draw();
    this.parts.push('</g>');
  }

  finish(width: number, height: number, title: string): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escapeXml(kFont)}"><title>${escapeXml(title)}</title>${this.parts.join('\n')}</svg>\n`;
  }
}

function num(value: number): string {
  return String(Math.round(value * 100) / 100);
}
function stroke(style: LineStyle): string {
  const dash = style.dash?.length ? ` stroke-dasharray="${style.dash.join(' ')}"` : '';
  return ` stroke="${escapeXml(style.stroke)}" stroke-width="${style.width ?? 1}"${dash}`;
}
