// SPDX-License-Identifier: Apache-2.0
// Rectangles by WebGL2: one instance a value. Bytes come as two floats each, and so does the bottom
// of the viewport: the difference is exact enough to zoom into single bytes of terabytes.
import { kBoxFloats, type Scene, type Viewport } from './scene';

const kVertex = `#version 300 es
layout(location=0) in vec2 time;      // begin, end
layout(location=1) in vec4 bytes;     // begin (high, low), end (high, low)
layout(location=2) in vec4 color;
uniform vec2 t_origin;                // t0, pixels a moment
uniform vec3 y_origin;                // y0 (high, low), pixels a byte
uniform vec2 screen;                  // in pixels
uniform float dim;                    // how much rows that are not marked fade away
out vec4 fill;
out vec2 edge;                        // pixels from the left and bottom
flat out vec2 extent;
void main() {
  vec2 x = (time - t_origin.x) * t_origin.y;
  vec2 y = vec2((bytes.x - y_origin.x) + (bytes.y - y_origin.y), (bytes.z - y_origin.x) + (bytes.w - y_origin.y)) * y_origin.z;
  x = clamp(x, -8.0, screen.x + 8.0);
  y = clamp(y, -8.0, screen.y + 8.0);
  // Nothing is too thin to be seen.
  if (x.y - x.x < 1.0) x.y = x.x + 1.0;
  if (y.y - y.x < 1.0) y.y = y.x + 1.0;
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 at = vec2(mix(x.x, x.y, corner.x), mix(y.x, y.y, corner.y));
  extent = vec2(x.y - x.x, y.y - y.x);
  edge = corner * extent;
  fill = vec4(color.rgb, mix(1.0 - dim, 1.0, color.a));
  gl_Position = vec4(at / screen * 2.0 - 1.0, 0.0, 1.0);
}`;

const kFragment = `#version 300 es
precision mediump float;
in vec4 fill;
in vec2 edge;
flat in vec2 extent;
uniform vec3 ground;
out vec4 result;
void main() {
  // A hairline around what is large enough to have one.
  vec2 near = min(edge, extent - edge);
  float line = (extent.x > 5.0 && near.x < 1.0) || (extent.y > 5.0 && near.y < 1.0) ? 0.28 : 0.0;
  result = vec4(mix(mix(ground, fill.rgb, fill.a), ground, line), 1.0);
}`;

export interface Painter {
  setScene(scene: Scene): void;
  setColors(rgba: Uint8Array): void; // by row; alpha 0 fades when there are marked rows
  draw(view: Viewport, width: number, height: number, dim: number, ground: [number, number, number]): void;
  dispose(): void;
}

// Null when the browser has no WebGL2.
export function makeGlPainter(canvas: HTMLCanvasElement): Painter | null {
  const gl = canvas.getContext('webgl2', { antialias: false, alpha: false, depth: false, preserveDrawingBuffer: true });
  if (!gl) return null;
  const program = link(gl);
  const uniform = (name: string) => gl.getUniformLocation(program, name);
  const places = { t: uniform('t_origin'), y: uniform('y_origin'), screen: uniform('screen'), dim: uniform('dim'), ground: uniform('ground') };
  const boxes = gl.createBuffer();
  const colors = gl.createBuffer();
  gl.bindVertexArray(gl.createVertexArray());
  gl.bindBuffer(gl.ARRAY_BUFFER, boxes);
  attribute(gl, 0, 2, gl.FLOAT, false, kBoxFloats * 4, 0);
  attribute(gl, 1, 4, gl.FLOAT, false, kBoxFloats * 4, 8);
  gl.bindBuffer(gl.ARRAY_BUFFER, colors);
  attribute(gl, 2, 4, gl.UNSIGNED_BYTE, true, 4, 0);
  let count = 0;
  let colored = 0;
  return {
    setScene(scene) {
      gl.bindBuffer(gl.ARRAY_BUFFER, boxes);
      gl.bufferData(gl.ARRAY_BUFFER, scene.boxes, gl.STATIC_DRAW);
      count = scene.count;
    },
    setColors(rgba) {
      gl.bindBuffer(gl.ARRAY_BUFFER, colors);
      gl.bufferData(gl.ARRAY_BUFFER, rgba, gl.DYNAMIC_DRAW);
      colored = rgba.length / 4;
    },
    draw(view, width, height, dim, ground) {
      gl.viewport(0, 0, width, height);
      gl.clearColor(...ground, 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.useProgram(program);
      const high = Math.fround(view.y0);
      gl.uniform2f(places.t, view.t0, width / (view.t1 - view.t0));
      gl.uniform3f(places.y, high, view.y0 - high, height / (view.y1 - view.y0));
      gl.uniform2f(places.screen, width, height);
      gl.uniform1f(places.dim, dim);
      gl.uniform3f(places.ground, ...ground);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, Math.min(count, colored));
    },
    dispose() {
      gl.getExtension('WEBGL_lose_context')?.loseContext();
    },
  };
}

function attribute(gl: WebGL2RenderingContext, place: number, size: number, type: number, normal: boolean, stride: number, at: number): void {
  gl.enableVertexAttribArray(place);
  gl.vertexAttribPointer(place, size, type, normal, stride, at);
  gl.vertexAttribDivisor(place, 1);
}

function link(gl: WebGL2RenderingContext): WebGLProgram {
  const program = gl.createProgram();
  for (const [type, text] of [
    [gl.VERTEX_SHADER, kVertex],
    [gl.FRAGMENT_SHADER, kFragment],
  ] as const) {
    const shader = gl.createShader(type);
    if (!shader) throw new Error('the graphics context is lost');
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    throw new Error(`the shaders do not link: ${gl.getProgramInfoLog(program) ?? ''}`);
  }
  return program;
}
