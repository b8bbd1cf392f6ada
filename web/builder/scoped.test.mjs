import assert from "node:assert/strict";
import {test} from "node:test";
import {scoped} from "./scoped.mjs";

test("the frame takes the part of the page", () => {
  assert.equal(scoped(":root{--a:1px}body{margin:0}p{margin:0}"), ".gw{--a:1px}.gw{margin:0}p{margin:0}");
  assert.equal(scoped("html{scroll-behavior:smooth}p{margin:0}"), "p{margin:0}");
  assert.equal(scoped("@media print{html{color:red}body{color:red}}"), "@media print{.gw{color:red}}");
  assert.equal(scoped("@media screen{:root[data-theme=dark]{--a:0}}"), "@media screen{.gw[data-theme=dark]{--a:0}}");
  assert.equal(scoped(".nobody{margin:0}tbody{margin:0}"), ".nobody{margin:0}tbody{margin:0}"); // only the element itself
});

test("its width takes the part of the screen's", () => {
  for (const media of ["@media (max-width:600px)", "@media (max-width: 600px)", "@media(max-width:600px)", "@media (width<=600px)"]) {
    assert.equal(scoped(`${media}{p{margin:0}}`), "@container (max-width:600px){p{margin:0}}");
  }
  assert.equal(scoped("@media (prefers-reduced-motion:reduce){p{margin:0}}"), "@media (prefers-reduced-motion:reduce){p{margin:0}}");
});

test("its units are its own", () => {
  assert.equal(scoped("p{margin:1rem .5rem -2.125rem;font:400 .8125rem/1.5 a}"), "p{margin:16px 8px -34px;font:400 13px/1.5 a}");
  assert.equal(scoped("p{width:calc(100% - 1.5rem)}"), "p{width:calc(100% - 24px)}");
  assert.equal(scoped(".x1rem{margin:0}"), ".x1rem{margin:0}");
});
