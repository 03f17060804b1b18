// SPDX-License-Identifier: Apache-2.0
// Wheel, drag, pinch and clicks on the map, told apart.
import { contains, Scale, type Areas } from '../draw/areas';
import type { Viewport } from '../draw/scene';
import { panBy, tame, zoomAt, type Extent } from './viewport';

export interface Host {
  areas(): Areas;
  view(): Viewport;
  extent(): Extent;
  setView(view: Viewport): void;
  scrub(x: number): void;
  click(x: number, y: number): void;
  hover(x: number, y: number): void; // -1, -1: the pointer has left
  fit(x: number, y: number): void; // all, or the bracket there
  box(area: { x0: number; y0: number; x1: number; y1: number } | null): void; // the zoom box while it is drawn
}

const kClickSlack = 4; // pixels that a hand shakes
type Mode = 'idle' | 'press' | 'pan' | 'scrub' | 'box' | 'pinch';

// Listens on an element; gives a function that stops it.
export function listen(element: HTMLElement, host: Host): () => void {
  const pointers = new Map<number, { x: number; y: number }>();
  let mode: Mode = 'idle';
  let from = { x: 0, y: 0 };
  let last = { x: 0, y: 0 };

  const at = (event: MouseEvent) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const scale = () => new Scale(host.areas().map, host.view());
  const pinch = () => {
    const [a, b] = [...pointers.values()];
    return {
      x: (a.x + b.x) / 2,
      y: (a.y + b.y) / 2,
      far: Math.max(20, Math.hypot(a.x - b.x, a.y - b.y)),
    };
  };
  let pinched = { x: 0, y: 0, far: 1 };

  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    element.focus({ preventScroll: true });
    const here = at(event);
    pointers.set(event.pointerId, here);
    if (pointers.size === 2) {
      mode = 'pinch';
      pinched = pinch();
      return;
    }
    from = last = here;
    const { map } = host.areas();
    mode = contains(map, here.x, here.y) ? (event.shiftKey ? 'box' : 'press') : 'scrub';
    if (mode === 'scrub') host.scrub(here.x);
  };

  const move = (event: PointerEvent) => {
    const here = at(event);
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, here);
    switch (mode) {
      case 'idle':
        host.hover(here.x, here.y);
        return;
      case 'press':
        if (Math.hypot(here.x - from.x, here.y - from.y) < kClickSlack) return;
        mode = 'pan';
        element.style.cursor = 'grabbing';
        host.hover(-1, -1);
        break;
      case 'scrub':
        host.scrub(here.x);
        return;
      case 'box':
        host.box({ x0: from.x, y0: from.y, x1: here.x, y1: here.y });
        return;
      case 'pinch': {
        const now = pinch();
        const s = scale();
        const moved = panBy(
          host.view(),
          host.extent(),
          (pinched.x - now.x) / s.perMoment,
          (now.y - pinched.y) / s.perByte,
        );
        const factor = pinched.far / now.far;
        const after = new Scale(host.areas().map, moved);
        host.setView(
          zoomAt(moved, host.extent(), after.time(now.x), after.bytes(now.y), factor, factor),
        );
        pinched = now;
        return;
      }
      case 'pan':
    }
    const s = scale();
    host.setView(
      panBy(
        host.view(),
        host.extent(),
        (last.x - here.x) / s.perMoment,
        (here.y - last.y) / s.perByte,
      ),
    );
    last = here;
  };

  const up = (event: PointerEvent) => {
    const here = at(event);
    pointers.delete(event.pointerId);
    if (mode === 'press') host.click(here.x, here.y);
    if (mode === 'box') {
      const s = scale();
      host.box(null);
      if (Math.abs(here.x - from.x) > kClickSlack && Math.abs(here.y - from.y) > kClickSlack) {
        const [t0, t1] = [s.time(from.x), s.time(here.x)].sort((a, b) => a - b);
        const [y0, y1] = [s.bytes(from.y), s.bytes(here.y)].sort((a, b) => a - b);
        host.setView(tame({ t0, t1, y0, y1 }, host.extent()));
      }
    }
    element.style.cursor = '';
    mode = pointers.size ? mode : 'idle';
  };

  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const here = at(event);
    const s = scale();
    const unit = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 400 : 1;
    // A sideways wheel, or one with Shift held, moves; with Alt, only time is zoomed.
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      const by = (event.deltaX || event.deltaY) * unit;
      host.setView(panBy(host.view(), host.extent(), by / s.perMoment, 0));
      return;
    }
    const factor = Math.exp(
      Math.max(-200, Math.min(200, event.deltaY * unit)) * (event.ctrlKey ? 0.01 : 0.0022),
    );
    const onMap = contains(host.areas().map, here.x, here.y);
    const byBytes = event.altKey || !onMap ? 1 : factor;
    host.setView(
      zoomAt(host.view(), host.extent(), s.time(here.x), s.bytes(here.y), factor, byBytes),
    );
  };

  const leave = () => mode === 'idle' && host.hover(-1, -1);
  const double = (event: MouseEvent) => {
    const { x, y } = at(event);
    host.fit(x, y);
  };
  element.addEventListener('pointerdown', down);
  element.addEventListener('pointermove', move);
  element.addEventListener('pointerup', up);
  element.addEventListener('pointercancel', up);
  element.addEventListener('pointerleave', leave);
  element.addEventListener('wheel', wheel, { passive: false });
  element.addEventListener('dblclick', double);
  return () => {
    element.removeEventListener('pointerdown', down);
    element.removeEventListener('pointermove', move);
    element.removeEventListener('pointerup', up);
    element.removeEventListener('pointercancel', up);
    element.removeEventListener('pointerleave', leave);
    element.removeEventListener('wheel', wheel);
    element.removeEventListener('dblclick', double);
  };
}
