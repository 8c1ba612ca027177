"""Other backends as servers of ``etalon conform --backend-server 'python -m etalon.adapters.NAME'``.

``iree``, ``stablehlo``, ``jax`` and ``xla_evaluator`` each need NumPy and the wheel of their backend, and nothing of Etalon but this
folder. A backend of your own needs a ``compile`` and a call of ``_server.serve``.
"""
