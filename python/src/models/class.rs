//! The classes of models: methods that all have, and those of models whose actions are lists.

/// Makes the class of a model. A row of `new` has the arguments with their readers, one more with
/// its default, and the users of them.
macro_rules! users {
    (
        $(#[doc = $doc:literal])+
        $Class:ident($Model:ty);
        new($($argument:ident: $read:ident),+ $(; $option:ident: $Option:ty = $default:tt)?) = $users:expr;
        $($methods:tt)*
    ) => {
        impl PolicyFacts for $Model {
            fn told(&self) -> Knowledge {
                <<Self as ClickModel>::Interaction as CatalogueProtocol>::knowledge(&self.known().into())
            }
        }

        $(#[doc = $doc])+
        #[pyclass(frozen, module = "click_bandits.models")]
        pub(crate) struct $Class(Crowd<$Model>);

        impl $Class {
            /// The users without their generator.
            pub(crate) fn model(&self) -> $Model {
                self.0.model.clone()
            }
        }

        #[pymethods]
        impl $Class {
            #[new]
            #[pyo3(signature = ($($argument,)+ *, $($option = $default,)? seed = None, rng = None))]
            fn new(
                $($argument: &Bound<'_, PyAny>,)+
                $($option: $Option,)?
                seed: Option<&Bound<'_, PyAny>>,
                rng: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Self> {
                $(let $argument = $read(stringify!($argument), $argument)?;)+
                Crowd::new($users, (seed, rng)).map(Self)
            }

            $($methods)*

            /// The regret, per user: the largest mean reward minus that of the action; of a pair,
            /// that of the comparison. A float for one action, a float64 array of shape (n,) for
            /// several or a batch.
            fn regret<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                self.0.read(actions)?.each(py, |action| self.0.model.gap(action))
            }

            /// The knowledge that a policy may have of these users: keyword arguments of `Policy`.
            ///
            /// Examples:
            ///     >>> users = models.PositionBased([0.9, 0.1], [1.0], seed=1)
            ///     >>> users.known()
            ///     {'model': 'pbm', 'items': 2, 'positions': 1, 'examination': [1.0]}
            ///     >>> policy = Policy("pbm-ts", **users.known(), seed=1)
            fn known<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                self.0.model.known_in(py)
            }

            /// The parameters and the state of the generator as JSON text.
            fn to_json(&self, py: Python<'_>) -> PyResult<String> {
                self.0.to_json(py)
            }

            /// The users that `to_json` wrote.
            ///
            /// Examples:
            ///     >>> users = models.PositionBased([0.9, 0.1], [1.0], seed=1)
            ///     >>> models.PositionBased.from_json(users.to_json())
            ///     PositionBased(attraction=[0.9, 0.1], examination=[1.0])
            #[classmethod]
            fn from_json(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
                Crowd::from_json(text).map(Self)
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                reduced::<Self>(py, "from_json", (self.0.to_json(py)?,))
            }

            fn __repr__(&self) -> String {
                let names = [$(stringify!($argument),)+ $(stringify!($option))?];
                format!("{}({})", stringify!($Class), arguments(self.model(), &names))
            }
        }
    };
}

/// Makes the class of a model whose actions are lists.
macro_rules! users_of_lists {
    (
        $(#[doc = $doc:literal])+
        $Class:ident($Model:ty);
        new($($arguments:tt)+) = $users:expr;
        $($methods:tt)*
    ) => {
        users! {
            $(#[doc = $doc])+
            $Class($Model);
            new($($arguments)+) = $users;

            $($methods)*

            /// Draws the users' answers: what `Policy.update` takes after the decision.
            ///
            /// Args:
            ///     actions: a decision, a batch, a list of items, shape (positions,), or lists,
            ///         shape (n, positions).
            ///     n: number of users who see the list, if it is one list.
            ///
            /// Returns:
            ///     clicks: bool array of shape (positions,) for one list without n, otherwise (n,
            ///         positions). For RandomSemiBandit a tuple:
            ///     clicks, and the number of observed positions, an int or an int64 array of shape
            ///     (n,).
            ///
            /// Examples:
            ///     >>> models.PositionBased([1.0, 0.1], [1.0], seed=1).respond([0], n=3).tolist()
            ///     [[True], [True], [True]]
            #[pyo3(signature = (actions, n=None))]
            fn respond<'py>(
                &self,
                py: Python<'py>,
                actions: &Bound<'py, PyAny>,
                n: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                self.0.answers(py, actions, n)
            }

            /// A list with the largest mean reward, from the top position down.
            ///
            /// Examples:
            ///     >>> users = models.PositionBased([0.1, 0.9], [1.0], seed=1)
            ///     >>> users.best_list(), users.best_reward
            ///     ([1], 0.9)
            fn best_list(&self) -> Vec<usize> {
                self.0.model.optimal_action().iter().map(ItemId::index).collect()
            }

            /// The largest mean reward of a list, per user.
            #[getter]
            fn best_reward(&self) -> f64 {
                self.0.model.optimal_reward()
            }

            /// The mean reward, per user: a float for one list, a float64 array of shape (n,) for
            /// lists of shape (n, positions) or a batch.
            ///
            /// Examples:
            ///     >>> users = models.PositionBased([0.9, 0.1], [1.0], seed=1)
            ///     >>> users.expected_reward([1]), users.regret([1])
            ///     (0.1, 0.8)
            fn expected_reward<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                self.0.read(actions)?.each(py, |list| self.0.model.expected_reward(list))
            }
        }
    };
}

pub(super) use {users, users_of_lists};
