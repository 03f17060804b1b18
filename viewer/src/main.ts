// SPDX-License-Identifier: Apache-2.0
import './page.css';
import { mount } from 'svelte';
import Root from './components/Root.svelte';

const target = document.getElementById('app');
if (target) mount(Root, { target });
