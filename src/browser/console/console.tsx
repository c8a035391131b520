import { render } from 'preact';

const root = document.getElementById('console');
if (root !== null) render(<p>Console</p>, root);
